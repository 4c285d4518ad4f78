public import Backplane
import BackplaneDocuments
import Synchronization

/// A registry for instances of the host program, which are found by type: `host.services`.
///
/// ```swift
/// host.services.register(AppSettings())
/// let settings: AppSettings = try host.services.resolve()
/// let printer = try host.services.resolve((any Printer).self) { $0.isColour }
/// ```
///
/// An instance is found by its own type, by a superclass, or by a protocol that it conforms to. If several match, the
/// one registered first is returned. Plugins cannot see the registry; they request contracts. The host does not manage
/// the instances: they remain usable after it has stopped, and are released with it.
public final class ServiceRegistry: Sendable {
    private let instances = Mutex<[any Sendable]>([])

    /// Creates an empty registry; a host has one already.
    public init() {}

    /// Adds an instance after those already registered.
    public func register(_ instance: some Sendable) {
        instances.withLock { $0.append(instance) }
    }

    /// Returns the first registered instance of a type.
    ///
    /// - Parameters:
    ///   - type: The class, struct or protocol to which the instance must be castable.
    ///   - isWanted: A predicate that the instance must satisfy; it may use the registry itself, including to register
    ///     instances. By default, any instance satisfies it.
    /// - Throws: `service.unknown`, which names the type and lists the registered types.
    public func resolve<T>(_ type: T.Type = T.self, where isWanted: (T) -> Bool = { _ in true }) throws(BackplaneError)
        -> T
    {
        // Outside the lock: the casts look conformances up, and the predicate is the caller's code.
        let registered = instances.withLock(\.self)
        var refused = 0
        for case let instance as T in registered {
            if isWanted(instance) { return instance }
            refused += 1
        }
        throw .unknownService(type, refused: refused, registered: registered)
    }

    /// Returns all registered instances of a type in order of registration; empty if there are none.
    public func resolveAll<T>(_: T.Type = T.self, where isWanted: (T) -> Bool = { _ in true }) -> [T] {
        instances.withLock(\.self).compactMap { $0 as? T }.filter(isWanted)
    }
}

extension BackplaneError.Code {
    /// The code of the error for a type without an instance in the host's registry.
    public static let unknownService = Self(rawValue: "service.unknown")
}

extension BackplaneError {
    /// Returns the error for a type without a suitable registered instance.
    ///
    /// - Parameter refused: The number of instances of the type that the predicate rejected.
    static func unknownService<T>(_ type: T.Type, refused: Int, registered: [any Sendable]) -> BackplaneError {
        let name = "`\(typeName(type))`"
        guard refused == 0 else {
            let words =
                refused == 1
                ? "the registered \(name) does not match" : "none of the \(refused) registered \(name) matches"
            return BackplaneError(
                .unknownService, "\(words) the predicate; register one that does, or relax the predicate")
        }
        let advice = "register one with `services.register` before it is requested"
        guard !registered.isEmpty else {
            return BackplaneError(.unknownService, "no \(name) is registered; registered types: none; \(advice)")
        }
        var names: [String] = []
        for name in registered.map({ typeName(Swift.type(of: $0)) }) where !names.contains(name) { names.append(name) }
        return BackplaneError(
            .unknownService, "no \(name) is registered; registered types: \(NameSuggestions.list(names)); \(advice)")
    }
}

/// Returns the qualified name of a type as written in code, without the compiler's additions for private types.
private func typeName(_ type: Any.Type) -> String {
    String(reflecting: type).split(separator: ".").filter { !$0.hasPrefix("(unknown context at ") }
        .joined(separator: ".")
}
