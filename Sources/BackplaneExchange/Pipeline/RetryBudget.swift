import Synchronization

/// The number of retries that each host may still cause, so that retries do not multiply an outage.
///
/// A host begins with ten. A retry takes one; each request gives back a tenth, and each second another. So no more than
/// a tenth of the requests are repeated in the long run, and six more a minute.
final class RetryBudget: Sendable {
    private struct Account {
        var balance: Double
        /// The time of the last change.
        var time: Duration

        /// Returns the balance that time has filled up since.
        func balance(at now: Duration) -> Double {
            min(RetryBudget.most, balance + 0.1 * max(0, (now - time) / .seconds(1)))
        }
    }
    static let most = 10.0
    /// The greatest number of hosts with an account; all others have their whole budget.
    private static let mostHosts = 1_000
    private let accounts = Mutex<[String: Account]>([:])

    /// Notes a first attempt.
    func requested(_ host: String, at time: Duration) { change(host, at: time, by: 0.1) }

    /// Takes a retry out of a host's budget; `false` if there is none left.
    func take(_ host: String, at time: Duration) -> Bool { change(host, at: time, by: -1) }

    @discardableResult
    private func change(_ host: String, at time: Duration, by amount: Double) -> Bool {
        accounts.withLock { accounts in
            let account = accounts[host] ?? Account(balance: Self.most, time: time)
            let balance = min(Self.most, account.balance(at: time) + amount)
            guard balance >= 0 else { return false }
            // A whole budget needs no account.
            if balance == Self.most {
                accounts[host] = nil
                return true
            }
            if accounts[host] == nil, accounts.count >= Self.mostHosts {
                accounts = accounts.filter { $0.value.balance(at: time) < Self.most }
            }
            if accounts[host] != nil || accounts.count < Self.mostHosts {
                accounts[host] = Account(balance: balance, time: time)
            }
            return true
        }
    }
}
