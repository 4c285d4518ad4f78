import Backplane
import BackplaneNetwork
import BackplaneRoutes
import Testing

@Suite struct RouteProblemTests {
    private func json(_ problem: RouteProblem) -> String { String(decoding: problem.response.body, as: UTF8.self) }

    @Test func `a problem is answered as JSON`() {
        let problem = RouteProblem(404, "there is no book 7")
        let response = problem.response
        #expect(response.status == 404)
        #expect(response.headers["Content-Type"] == "application/problem+json")
        #expect(json(problem) == #"{"detail":"there is no book 7","status":404,"title":"Not Found"}"#)
    }

    @Test func `a problem has a title, fields and header fields of its own`() {
        let problem = RouteProblem(
            422, title: "Not a Book", fields: ["title": "missing"], headers: ["Retry-After": "5"])
        #expect(problem.response.headers["Retry-After"] == "5")
        #expect(json(problem) == #"{"fields":{"title":"missing"},"status":422,"title":"Not a Book"}"#)
        #expect(RouteProblem(418).title == "Bad Request")
        #expect(RouteProblem(599).title == "Internal Server Error")
    }

    @Test(arguments: [
        (BackplaneError.Code.callDeadline, 504), (.callOverloaded, 503), (.hostStopped, 503), (.callRetired, 503),
        (.callCancelled, 503), (.streamInterrupted, 503), (.routeUnknown, 503), (.componentFailed, 500),
        (.networkFailed, 500),
    ])
    func `an error of a call has the status of its code, and says nothing else`(
        code: BackplaneError.Code, status: Int
    ) {
        let problem = RouteProblem(answering: BackplaneError(code, "the password is 1234"))
        #expect(problem.status == status)
        #expect(problem.detail == nil)
        #expect((problem.headers["Retry-After"] != nil) == (status == 503))
    }
}
