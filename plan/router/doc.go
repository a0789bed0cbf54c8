// Package router turns a sentence into a plan without a model, if the sentence is one of the catalog's routines.
//
//	matched, err := router.Match(catalog, router.Utterance{Text: "안방으로 가서 청정하고 복귀해줘", Rooms: rooms})
//
// Spacing, punctuation, case, Unicode spelling, particles, fillers ("좀", "please") and politeness ("-주세요",
// "could you") are forgiven. Nothing else is: every word of the sentence must be taken. A robot that obeys the half it
// understood of "안방으로 가지 마" or of "청소하고 창문 열어줘" does harm, so such a sentence is ErrNoMatch, as is a question.
//
// Rooms come only from the device's own room catalog. A sentence that fits but names another place is an *UnknownRoom;
// a name that stands for two rooms is an *AmbiguousRoom (case c10). Neither is ever resolved by guessing.
//
// A time is taken as it was said: "7시" is 07:00, "오후 7시" and "7 pm" are 19:00. Doors, lights, alarms and the like are called
// by the names that the device's context has. Which of several things of one name is meant is not asked here: the plan says
// by what it is found, and a person chooses just before it is acted on.
//
// # Words that steer
//
// Listen tells a sentence that is about what is under way ("멈춰", "잠깐만", "go on") from a wish; Choose tells which choice of a
// question it is; FollowUp takes off the words by which a wish comes after what is under way. Their words are the catalog's
// controls.
package router
