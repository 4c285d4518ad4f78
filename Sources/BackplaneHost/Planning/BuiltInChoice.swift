/// The class that serves a definition of the manifest without a plugin, and any problems with it.
package struct BuiltInChoice: Sendable {
    /// The class; `nil` if there is none, for the reasons stated or because of another error of the manager.
    var entry: Catalogue.Entry?
    var problems: [Problem] = []
}
