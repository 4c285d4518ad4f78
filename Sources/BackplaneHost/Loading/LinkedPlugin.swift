package import Backplane

/// A plugin that is linked into this program.
package struct LinkedPlugin: Sendable {
    let name: String
    let describe: @Sendable () throws(BackplaneError) -> PluginDescription

    package init(_ plugin: any Plugin.Type) {
        name = plugin.id
        describe = { () throws(BackplaneError) in try PluginDescription(asking: plugin, getInterface: HostInterfaces.get) }
    }

    /// One that is known by its entry alone, as a library's is.
    package init(named name: String, entry: @escaping @Sendable PluginDescription.Entry) {
        self.name = name
        describe = { () throws(BackplaneError) in try PluginDescription(asking: entry, getInterface: HostInterfaces.get) }
    }
}
