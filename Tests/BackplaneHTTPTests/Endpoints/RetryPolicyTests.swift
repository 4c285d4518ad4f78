import Backplane
import Foundation
import Testing

@testable import BackplaneNetwork

/// The rules for retries, which are pure: delays, `Retry-After`, and what may be repeated.
struct RetryPolicyTests {
    private let now = Date(timeIntervalSince1970: 784_111_777)  // Sun, 06 Nov 1994 08:49:37 GMT

    @Test func `the bound of a delay doubles up to a limit, and chance takes a part of it`() {
        var policy = RetryPolicy()
        (policy.base, policy.limit) = (.milliseconds(100), .seconds(1))
        #expect(
            (1...6).map { policy.backoff(after: $0, random: 1) / .milliseconds(1) } == [
                100, 200, 400, 800, 1_000, 1_000,
            ])
        #expect(policy.backoff(after: 3, random: 0.5) == .milliseconds(200))
        #expect(policy.backoff(after: 3, random: 0) == .zero)
        #expect(policy.backoff(after: .max, random: 1) == .seconds(1))
        policy.base = .seconds(5)
        #expect(policy.backoff(after: 1, random: 1) == .seconds(1))
    }

    @Test(
        arguments: [
            ("2", 2), ("0", 0.1), ("60", 60), ("61", nil), ("31536000", nil), ("99999999999999999999999", nil),
            ("-1", 0.1), ("soon", 0.1), ("", 0.1), (" 3 ", 3), ("1.5", 0.1),
            ("Sun, 06 Nov 1994 08:49:47 GMT", 10), ("Sunday, 06-Nov-94 08:49:47 GMT", 10),
            ("Sun Nov  6 08:49:47 1994", 10), ("Sun, 06 Nov 1994 08:00:00 GMT", 0.1),
            ("06 nov 1994 08:49:47 UTC", 10), ("Sun, 6 November 1994 08:49:47 +0000", 10),
            ("Sun Nov 06 1994 08:49:47 GMT+0000 (UTC)", 10), ("Sun, 31 Feb 2094 08:49:47 GMT", 0.1),
            ("Sun, 06 Nov 08:49:47 GMT", 0.1), ("+5", 0.1), ("0x10", 0.1),
            ("Mon, 06 Nov 1995 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 25:49:47 GMT", 0.1),
        ] as [(String, Double?)])
    func `Retry-After is waited for up to a limit, and what cannot be read counts as none`(
        value: String, expected: Double?
    ) {
        var policy = RetryPolicy()
        policy.base = .milliseconds(100)
        let delay = policy.delay(after: 503, ["Retry-After": value], attempt: 1, now: now, random: 1)
        #expect(delay.map { $0 / .seconds(1) } == expected)
    }

    @Test func `only the statuses of the policy are repeated`() {
        let policy = RetryPolicy()
        for status in [200, 301, 400, 404, 500, 501] {
            #expect(policy.delay(after: status, [:], attempt: 1, now: now, random: 1) == nil)
        }
        for status in [408, 425, 429, 502, 503, 504] {
            #expect(policy.delay(after: status, [:], attempt: 1, now: now, random: 1) != nil)
        }
    }

    @Test func `idempotent methods are repeated, others where the policy says so, and bodies that can be sent again`() {
        var policy = RetryPolicy(attempts: 2)
        func allows(_ method: String, _ body: HTTPBody = .none, after attempt: Int = 1) -> Bool {
            policy.allows(HTTPRequest(method, "http://h", body: body), after: attempt)
        }
        #expect(["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "get"].allSatisfy { allows($0) })
        #expect(["POST", "PATCH", "CONNECT", "brew", "BREW"].allSatisfy { !allows($0) })
        #expect(!allows("GET", after: 2))
        #expect(allows("PUT", .text("a")) && !allows("PUT", .stream(Chunks([1], size: 1))))
        policy.repeatsAnyMethod = true
        #expect(allows("POST", .text("a")) && !allows("POST", .stream(Chunks([1], size: 1))))
    }

    @Test func `rules cross the boundary as text`() throws {
        var policy = RetryPolicy(attempts: 7)
        (policy.base, policy.limit, policy.retryAfterLimit) = (.milliseconds(50), .seconds(3), .seconds(90))
        (policy.statuses, policy.attemptTimeout, policy.repeatsAnyMethod) = ([503, 429], .milliseconds(1_500), true)
        #expect(policy.text == "attempts=7 base=0.05 limit=3.0 after=90.0 statuses=429,503 attempt=1.5 any")
        #expect(try RetryPolicy(text: policy.text).text == policy.text)
        #expect(try RetryPolicy(text: RetryPolicy().text).text == RetryPolicy().text)
        #expect(try RetryPolicy(text: "").text == RetryPolicy().text)
        #expect(try RetryPolicy(text: "statuses=").statuses == [])
        for wrong in [
            "attempts", "attempts=-1", "attempts=x", "base=-1", "base=nan", "limit=1e99", "tea=1", "any=1",
            "statuses=a",
        ] {
            let error = #expect(throws: BackplaneError.self) {
                let policy = try RetryPolicy(text: wrong)
                return policy.text
            }
            #expect(error?.code == .networkRefused && error?.message.contains("`\(wrong)`") == true)
        }
    }
}
