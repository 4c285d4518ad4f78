/// The class that serves a definition of the manifest without a plugin, and the problems of that.
package struct BuiltInChoice: Sendable {
    /// The class; `nil` if there is none, for the reasons given or because of another error of the manager.
    var entry: Catalogue.Entry?
    var problems: [Problem] = []
}
