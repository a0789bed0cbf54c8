// Package api is Errand's HTTP API (contract.md §11): start a plan from an utterance or from a document, watch it,
// answer its question, cancel it, and look at devices and the catalog.
//
//	server, err := api.New(api.Parts{Plans: plans.New(temporalClient), Registry: registry, Catalog: catalog, Tokens: tokens})
//	http.ListenAndServe("127.0.0.1:7410", server)
//
// Every route needs "Authorization: Bearer <token>", the document of the API at /openapi.json included.
//
// Bodies are read by internal/border: size, depth, string length, duplicate keys, NFC. What is wrong comes back as one
// RFC 9457 problem document whose errors list every fault with the path of its field. 400 is not JSON, 413 too large,
// 422 JSON that does not fit, 401 no token, 403 somebody else's, 404 not there, 409 in conflict with what was done
// before, 410 too late, 503 a part of Errand does not answer.
//
// The routes and their schemas are declared in code (huma), and /openapi.json is generated from those declarations.
package api
