// Package lawsdoc writes docs/laws.md: every law with the tests that name it. Its own test fails when the page is not what
// the tests of the tree say, so that a test which is renamed or removed cannot stay on the page:
//
//	go test ./tests/lawsdoc -args -write
//
// A test names a law in its function's name (TestLaw07..., TestLaw17And20...) or in a subtest's ("Law07AcrossAReset").
package lawsdoc

// law is one of the rules that Errand never breaks.
type law struct {
	number int
	name   string
	says   string
	// inForce says that all of it is built: then it needs a property test and one on real processes.
	inForce bool
}

var laws = []law{
	{1, "Order", "A step is sent only when every step it depends on is completed.", true},
	{2, "First ready", "One step of a plan is on its way at a time; of those that are ready, the first in the plan.", true},
	{3, "Two borders", "A result fills a slot only where its contract gives the field away and the slot takes its type; else nothing is sent.", true},
	{4, "Deny unlisted", "Of a result only listed fields are kept; the rest is stored and shown nowhere.", true},
	{5, "Accepted is not completed", "Only a completion completes a step: not that it was taken, nor that it runs, nor a completion target's name.", true},
	{6, "Right attempt", "An event counts for the attempt it names; of any other it is on record and changes nothing.", true},
	{7, "Once", "What is told twice counts once, across reconnects, restarts, new runs and resets.", true},
	{8, "Any order", "The device's boots and numbers make the order, not the arrival and not a timestamp.", true},
	{9, "Unknown is not failed", "When contact is lost the device is asked about that operation before anything else is done.", true},
	{10, "Late truth wins", "A late completion counts if its attempt still stands, and never starts the next step twice.", true},
	{11, "One effect", "An operation is sent again only under its own id; another attempt only after the device said that the last is dead.", true},
	{12, "Boundary only", "A model is asked only where the device asks for a decision, recovery is exhausted or a binding failed.", false},
	{13, "Bounded", "Decisions are counted, useless ones too; the same plan again stops and asks.", false},
	{14, "Same gate for the model", "What a model proposes passes the gate that every plan passes, and touches nothing that is done or under way.", false},
	{15, "Cancel is a request", "A cancel reaches the device, and what physically happened is what is reported; nothing moves after that.", true},
	{16, "Confirmation is a lease", "A yes holds for what it was given for, once, for a while; no answer is no.", false},
	{17, "Fresh or absent", "What is stale, unusable or unavailable decides nothing and is told to nobody.", true},
	{18, "Every wait ends", "Whatever is waited for has an end, and it is said what comes then.", true},
	{19, "Nothing vanishes", "Every operation sent ends as something, unknown included; every event received is on record.", true},
	{20, "Say what is so", "The person hears what was verified, and what was not is said as such.", true},
	{21, "One mover", "Two plans never move one device in turns; the lease says whose turn it is.", true},
}
