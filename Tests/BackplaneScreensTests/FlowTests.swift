import Backplane
import BackplaneScreens
import Testing

@Suite(.timeLimit(.minutes(5)))
struct `Flows decide from data` {
    @Test func `a decision is an object of its parts`() throws {
        let destination = try Destination("books.book", ["book": "7"])
        let decisions: [(FlowDecision, String)] = [
            (.none, #"{"action":"none"}"#), (.pop, #"{"action":"pop"}"#), (.popToRoot, #"{"action":"popToRoot"}"#),
            (.push(), #"{"action":"push"}"#), (.present(), #"{"action":"present"}"#),
            (.select(1), #"{"action":"select","tab":1}"#),
            (
                .replace(destination),
                #"{"action":"replace","destination":{"input":"{\"book\":\"7\"}","screen":"books.book"}}"#
            ),
        ]
        for (decision, json) in decisions {
            #expect(
                String(decoding: try JSON.encodeSorted(decision, failing: .callInvalidOutput), as: UTF8.self) == json)
            #expect(try JSON.decode(FlowDecision.self, Array(json.utf8), failing: .callInvalidOutput) == decision)
        }
    }

    @Test func `a request comes back from JSON`() throws {
        let request = FlowRequest(
            try Destination("books.book"), from: "books.list", tabs: ["books.list", "loans.list"], tab: 1,
            stack: ["loans.list", "books.book"], modals: ["alert"])
        for request in [request, FlowRequest()] {
            let json = try JSON.encode(request, failing: .callInvalidInput)
            #expect(try JSON.decode(FlowRequest.self, json, failing: .callInvalidInput) == request)
        }
    }
}
