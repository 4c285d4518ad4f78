public import Backplane

/// The first of two editions of one plugin, which are swapped in turn.
public struct FirstPlugin: Plugin {
    public static let id = "org.backplane.turnstile"
    public static let version: Version = "1.0.0"

    public static func register(in registrar: inout Registrar) {
        registrar.add(TurnstileManager.self)
    }
}
