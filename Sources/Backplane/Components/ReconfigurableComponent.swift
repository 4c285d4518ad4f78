/// A component that accepts another configuration while it runs, instead of being recreated for it.
///
/// ```swift
/// actor PriceBoard: Manager, ReconfigurableComponent {
///     struct Configuration: Decodable { var currency: String }
///     private var currency: String
///
///     init(_ context: Context) { currency = context.configuration.currency }
///
///     func reconfigure(_ configuration: Configuration) throws {
///         guard known.contains(configuration.currency) else { throw UnknownCurrency() }
///         currency = configuration.currency
///     }
///     …
/// }
/// ```
///
/// The protocol is adopted where the class is declared, or in the same module.
public protocol ReconfigurableComponent: Component {
    /// Applies another configuration, or throws and continues with the current one.
    ///
    /// It is a step: it overlaps no other step, but calls and timers' bodies may run at the same time. If it throws,
    /// the manifest is not applied, and the error is reported. A component that has applied its configuration receives
    /// the old one again if another component of the same change refuses its own. `context.configuration` remains the
    /// configuration with which the component was created.
    func reconfigure(_ configuration: Configuration) async throws
}

extension ReconfigurableComponent {
    /// The step that applies another configuration, for the SDK.
    @_documentation(visibility: internal)
    public static var _reconfiguration: _Reconfiguration<Self>? {
        _Reconfiguration { component, configuration in
            let configuration = try KnownAndUnknown<Configuration>(configuration: configuration)
            try await component.reconfigure(configuration.value)
            return configuration.unknownKeys
        }
    }
}

/// The step that applies another configuration to a ``ReconfigurableComponent``.
///
/// Only the SDK creates it.
@_documentation(visibility: internal)
public struct _Reconfiguration<C>: Sendable {
    // `C` is always a component, but declaring that would make the runtime search every loaded image for the
    // conformance.
    /// The function that decodes a configuration, passes it to the component, and returns the keys unknown to its type.
    let run: @Sendable (C, _ configuration: [UInt8]) async throws -> [String]
}
