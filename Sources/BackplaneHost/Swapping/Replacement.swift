import Backplane

/// A library that replaces an active one.
struct Replacement {
    /// The position among the plugins of the active manifest.
    var place: Int
    var plugin: LoadedPlugin
    /// The library as the caller named it.
    var library: String
}
