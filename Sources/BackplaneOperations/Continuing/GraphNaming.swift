/// The properties by which newer code continues a graph.
struct GraphNaming: Sendable {
    /// The number of the definition, as the host knows it; 0 without a host.
    var definition: UInt64
    /// The number of the graph that this one continues; 0 for a new graph.
    var continues: UInt64 = 0
    /// The input from which the graph was built, in JSON.
    var input: String
    /// The number of the node whose value is the result.
    var result: Int
}
