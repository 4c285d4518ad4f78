import Synchronization

/// The function that is called after each sign-in to a vault's credentials, if one is set.
final class SignInObserver: Sendable {
    private let observer = Mutex<(@Sendable (String, String) -> Void)?>(nil)

    func set(_ observer: @escaping @Sendable (String, String) -> Void) { self.observer.withLock { $0 = observer } }

    func tell(_ credential: String, _ account: String) { observer.withLock(\.self)?(credential, account) }
}
