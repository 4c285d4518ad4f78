// swift-format-ignore-file

import Backplane

/// A component's calls begin with `context.begin()`, so that its host knows whose they are.
final class CallStarter: Manager {
    init(_ context: Context) {
        _ = Call()  // error: 'Call' initializer is inaccessible due to 'package' protection level
    }
}
