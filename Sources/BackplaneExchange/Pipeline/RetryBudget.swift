import Synchronization

/// The number of retries that remain for each host, so that retries do not aggravate an outage.
///
/// A host begins with ten. A retry uses one; each request adds a tenth, and so does each second. In the long run, no
/// more than a tenth of the requests are repeated, plus six a minute.
final class RetryBudget: Sendable {
    private struct Account {
        var balance: Double
        /// The time of the last change.
        var time: Duration

        /// Returns the balance, replenished for the time that has passed since.
        func balance(at now: Duration) -> Double {
            min(RetryBudget.most, balance + 0.1 * max(0, (now - time) / .seconds(1)))
        }
    }
    static let most = 10.0
    /// The maximum number of hosts with an account of their own; all others share one.
    private static let mostHosts = 1_000
    /// The name of the shared account, which is not that of a host.
    private static let others = "*"
    private let accounts = Mutex<[String: Account]>([:])

    /// Records a first attempt.
    func requested(_ host: String, at time: Duration) { change(host, at: time, by: 0.1) }

    /// Takes a retry from a host's budget; returns `false` if none is left.
    func take(_ host: String, at time: Duration) -> Bool { change(host, at: time, by: -1) }

    @discardableResult
    private func change(_ host: String, at time: Duration, by amount: Double) -> Bool {
        accounts.withLock { accounts in
            if amount < 0, accounts[host] == nil, accounts.count >= Self.mostHosts {
                // A whole budget needs no account.
                accounts = accounts.filter { $0.value.balance(at: time) < Self.most }
            }
            let name = accounts[host] == nil && accounts.count >= Self.mostHosts ? Self.others : host
            let balance = min(Self.most, (accounts[name]?.balance(at: time) ?? Self.most) + amount)
            guard balance >= 0 else { return false }
            accounts[name] = balance == Self.most ? nil : Account(balance: balance, time: time)
            return true
        }
    }
}
