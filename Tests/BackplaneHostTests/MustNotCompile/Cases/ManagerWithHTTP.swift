// swift-format-ignore-file

import Backplane
import BackplaneNetwork

/// A manager reaches no network: that is its communication controller's.
final class FetchingManager: Manager {
    init(_ context: Context) {
        _ = context.http  // error: 'http' is unavailable: a manager cannot use HTTP: call its communication controller through a wire
    }
}
