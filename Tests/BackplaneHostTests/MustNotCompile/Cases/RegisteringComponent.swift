// swift-format-ignore-file

import Backplane

final class AddedManager: Manager {
    init(_ context: Context) {}
}

/// A component adds none to its host, and does not change how it is configured itself: only a plugin registers, once.
final class RegisteringManager: Manager {
    struct Configuration: Decodable, Sendable {
        var limit: Int
    }
    init(_ context: Context) {
        context.add(AddedManager.self)  // error: value of type 'ManagerContext<RegisteringManager>' has no member 'add'
        context.register(AddedManager.self)  // error: value of type 'ManagerContext<RegisteringManager>' has no member 'register'
        context.configuration.limit = 2  // error: cannot assign to property: 'configuration' is a get-only property
        _ = Registrar()  // error: 'Registrar' initializer is inaccessible due to 'internal' protection level // error: missing arguments for parameters 'services', 'pluginVersion' in call
    }
}
