public import Backplane
import Synchronization

/// Ready-made instances of the host program, found by their type: `host.services`.
///
/// ```swift
/// host.services.register(AppSettings())
/// let settings: AppSettings = try host.services.resolve()
/// let printer = try host.services.resolve((any Printer).self) { $0.isColour }
/// ```
///
/// An instance is found by its own type, a superclass of it or a protocol that it conforms to; of several that fit the one
/// registered first is taken. Plugins see nothing of it: they ask for contracts. The instances are the program's own: they answer
/// after the host has stopped, too, and are released with the host.
public final class ServiceRegistry: Sendable {
    private let instances = Mutex<[any Sendable]>([])

    package init() {}

    /// Adds an instance behind those that are there.
    public func register(_ instance: some Sendable) {
        instances.withLock { $0.append(instance) }
    }

    /// The first registered instance of a type.
    ///
    /// - Parameter isWanted: which of them will do; may itself ask the registry, and register. Default: any.
    /// - Throws: `service.unknown`, which names the type and lists what is registered.
    public func resolve<T>(_ type: T.Type = T.self, where isWanted: (T) -> Bool = { _ in true }) throws(BackplaneError) -> T {
        // Outside the lock: conformances are looked up here, and the predicate is somebody else's code.
        let registered = instances.withLock(\.self)
        var refused = 0
        for case let instance as T in registered {
            if isWanted(instance) { return instance }
            refused += 1
        }
        throw .unknownService(type, refused: refused, registered: registered)
    }

    /// All registered instances of a type, in the order they were registered in; none is an empty list.
    public func resolveAll<T>(_: T.Type = T.self, where isWanted: (T) -> Bool = { _ in true }) -> [T] {
        instances.withLock(\.self).compactMap { $0 as? T }.filter(isWanted)
    }
}

extension BackplaneError.Code {
    /// The host's registry has no instance of the type that was asked for.
    public static let unknownService = Self(rawValue: "service.unknown")
}
