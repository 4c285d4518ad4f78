package import Backplane
package import BackplaneBoundary
import CBackplane

/// A plugin that is linked into this program.
package struct LinkedPlugin: Sendable {
    let name: String
    /// Asks it what it brings, and gives it how it fetches the host's services.
    let describe: @Sendable (bp_get_interface) throws(BackplaneError) -> PluginDescription
    /// The folder with its files; `nil`: it came without.
    let resources: @Sendable () throws(BackplaneError) -> String?

    package init(_ plugin: any Plugin.Type) {
        name = plugin.id
        describe = { getInterface throws(BackplaneError) in try PluginDescription(asking: plugin, getInterface: getInterface) }
        resources = { () throws(BackplaneError) in try ResourceFolder.ofModule(declaring: plugin) }
    }

    /// One that is known by its entry alone, as a library's is.
    package init(named name: String, entry: @escaping @Sendable PluginDescription.Entry) {
        self.name = name
        describe = { getInterface throws(BackplaneError) in try PluginDescription(asking: entry, getInterface: getInterface) }
        resources = { nil }
    }

    /// One that is known by what it registers.
    package init(id: String, version: Version, register: @escaping @Sendable (inout Registrar) -> Void) {
        name = id
        describe = { getInterface throws(BackplaneError) in
            try PluginDescription(id: id, version: version, getInterface: getInterface, register: register)
        }
        resources = { nil }
    }
}
