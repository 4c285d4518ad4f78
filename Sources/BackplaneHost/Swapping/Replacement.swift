import Backplane

/// A library that takes the place of one that is in force.
struct Replacement {
    /// Among the plugins of the manifest in force.
    var place: Int
    var plugin: LoadedPlugin
    /// As it was asked for.
    var library: String
}
