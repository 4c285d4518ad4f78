public import Backplane

/// A small plugin that is loaded hundreds of times, from copies of its library that differ in the digits of ``id``.
///
/// The identifier is longer than the 15 bytes that Swift would store inline in the instructions.
public struct SwarmPlugin: Plugin {
    public static let id = "org.backplane.swarm-0000"
    public static let version: Version = "1.0.0"

    public static func register(in registrar: inout Registrar) {
        registrar.add(SwarmManager.self)
    }
}
