#if Engines
@testable import BookshelfServer
import Testing

@Suite(.timeLimit(.minutes(5)))
struct TokenLedgerTests {
    private let now = ContinuousClock.now

    @Test func `a token is 256 bits and never the same`() {
        var ledger = TokenLedger()
        let tokens = (0..<100).map { _ in ledger.issue(until: now) }
        #expect(Set(tokens).count == 100)
        // 43 characters of six bits are 258, of which the last two are not used.
        for token in tokens { #expect(token.wholeMatch(of: /[A-Za-z0-9_-]{43}/) != nil) }
    }

    @Test func `a token is good until it expires`() {
        var ledger = TokenLedger()
        let token = ledger.issue(until: now + .seconds(300))
        #expect(ledger.judge(token, at: now) == .valid)
        #expect(ledger.judge(token, at: now + .seconds(299)) == .valid)
        #expect(ledger.judge(token, at: now + .seconds(300)) == .expired)
        #expect(ledger.judge(token, at: now + .seconds(3_000)) == .expired)
    }

    @Test func `what was never given out is unknown`() {
        var ledger = TokenLedger()
        let token = ledger.issue(until: now + .seconds(300))
        for other in ["", "x", String(token.dropLast()), token + "x"] {
            #expect(ledger.judge(other, at: now) == .unknown)
        }
    }

    @Test func `the oldest are forgotten when there are too many`() {
        var ledger = TokenLedger()
        let tokens = (0...TokenLedger.capacity).map { _ in ledger.issue(until: now + .seconds(300)) }
        #expect(ledger.judge(tokens[0], at: now) == .unknown)
        #expect(ledger.judge(tokens[1], at: now) == .valid)
        #expect(ledger.judge(tokens[TokenLedger.capacity], at: now) == .valid)
    }

    @Test func `nothing that could be printed holds a token or a password`() {
        var ledger = TokenLedger()
        let token = ledger.issue(until: now)
        var text = ""
        dump(ledger, to: &text)
        dump(Credentials(reader: "ada", password: "secret"), to: &text)
        #expect(!text.contains(token))
        #expect(!text.contains("secret"))
    }
}
#endif
