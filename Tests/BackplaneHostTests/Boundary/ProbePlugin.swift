import Backplane

/// The plugin whose entry function the tests call.
struct ProbePlugin: Plugin {
    static let id = "org.example.probe"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {}
}
