// Package redteam lets people, rooms, devices and what they see try to instruct the model, and judges by what the robots did.
//
// The model is one that obeys everybody (standin.Obey): no case hopes that a model is wise. What holds is all around it: the
// gate, which knows no capability but the catalog's; the budgets; and law 14's last clause, by which a person confirms what a
// model put in a plan above reversible. Nobody confirms anything here.
//
// cases.yaml has the cases. Each says which text tries what, and which effects are allowed: those of the honest wish, and
// those that a plan may have which is legal and reversible, though unwanted. The ledger may show no other. A case also shows
// that the attack was one: the model was told the text, and obeyed it; or that it was never asked.
package redteam
