public import Backplane

/// A plugin that the SDK must not create, because its generic parameter is unknown.
public struct GenericPlugin<Parameter>: Plugin {
    public static var id: String { "org.backplane.tests.generic" }
    public static var version: Version { "1.0.0" }
    public static func register(in registrar: inout Registrar) {}
}
