public import Backplane

/// The plugin of the calling components, in its own library.
public struct RelayPlugin: Plugin {
    public static let id = "org.backplane.benchmark-relay"
    public static let version: Version = "1.0.0"

    public static func register(in registrar: inout Registrar) {
        registrar.add(RelayManager.self)
        registrar.add(ManyWiresManager.self)
        registrar.add(SeriesReaderManager.self)
    }
}
