// swift-format-ignore-file

import Backplane
import BackplaneNetwork

/// A manager reaches no network: that is its communication controller's.
final class FetchingManager: Manager {
    init(_ context: Context) {
        _ = context.http  // error: 'http' is unavailable: a manager has no HTTP: its communication controller has, and a manager calls that by a wire
    }
}
