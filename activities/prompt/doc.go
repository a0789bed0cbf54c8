// Package prompt is what a model is told, and how its answer is read.
//
//	setting := prompt.NewSetting(catalog.Whole(), deviceContext, time.Now().UnixMilli())
//	request := prompt.Plan(&setting, prompt.Wish{PlanID: id, Text: said, Locale: "ko-KR"})
//	answer, err := model.Generate(ctx, request)
//	proposal, faults := prompt.ReadPlan(answer.Text)
//	faults = append(faults, setting.Faults(proposal.Document, deviceID)...)
//
// A Setting is one moment of one device: what of its context may be told, which capabilities may be used, which rooms may
// be named, and what was left out of all that and why. It is the same for a plan and for a decision at a boundary.
//
// # What is told, and as what
//
// Instructions are ours alone: the rules, and the catalog's capabilities, which the operator of the installation wrote.
// What a person said and what a device reported are Contents: data, whatever it says. No string of theirs gets into the
// instructions.
//
// Of the context, freshness counts first (law 17): what is stale or unavailable is not there. Of the rest only the areas
// of contract.md §6, and those that the catalog's own conditions read, are told; within them no credential, no frame, no
// log, no id of a task or a boot, no clock time and no coordinate; texts, lists and the whole are bounded.
//
// # The same question again
//
// A question has nothing in it that changes every time, so that a cassette knows it again.
package prompt
