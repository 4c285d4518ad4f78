import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// The exchanges of a component while they are being ended.
@Suite(.timeLimit(.minutes(5)))
struct ExchangesTests {
    /// The end of an exchange, which is kept before something is done.
    private final class KeptEnd: Sendable {
        private let error = Mutex<BackplaneError?>(nil)
        private let then: @Sendable () -> Void

        init(_ then: @escaping @Sendable () -> Void = {}) { self.then = then }

        var code: BackplaneError.Code? { error.withLock { $0?.code } }

        var client: ExchangeClient {
            ExchangeClient { [self] result in
                if case .failure(let failure) = result { error.withLock { $0 = failure } }
                then()
            }
        }
    }

    private let clock = TestClock()

    private func exchanges() -> Exchanges {
        let network = HostNetwork(
            HostNetwork.Means(
                [
                    MemoryExecutor { _, _ in
                        try await TestGate().pass()
                        return HTTPStreamedResponse(HTTPResponse(status: 200))
                    }
                ], clock), ManifestDocument(Manifest(managers: [:])))
        return Exchanges(
            network, of: "Books", managers: [], folder: "", clock: clock, idleLimit: .seconds(60), ExchangeCounts(),
            ExchangeLog(log: TestLog()))
    }

    private func begin(_ exchanges: Exchanges, _ end: KeptEnd) {
        _ = exchanges.begin(HTTPRequest("GET", "http://books.test/"), .whole(upTo: 100), Call(), end.client, ended: {})
    }

    @Test(arguments: [true, false])
    func `an exchange that begins while the others are being ended is refused`(forGood: Bool) {
        let exchanges = exchanges(), late = KeptEnd()
        let first = KeptEnd { [self] in begin(exchanges, late) }
        begin(exchanges, first)
        exchanges.retireAll(forGood: forGood)
        #expect(first.code == .callRetired)
        #expect(late.code == .callRetired)
        let later = KeptEnd()
        begin(exchanges, later)
        #expect(later.code == (forGood ? .callRetired : nil), "one that was only suspended goes on")
        let counts = exchanges.counts.statistics
        #expect(counts.begun == 3 && counts.inFlight == (forGood ? 0 : 1))
        exchanges.retireAll(forGood: true)
        #expect(later.code == .callRetired)
    }
}
