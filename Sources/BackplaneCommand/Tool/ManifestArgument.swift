#if Engines
import ArgumentParser

/// The argument of commands that work on a manifest.
struct ManifestArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The manifest: JSON or a property list (default: \(ManifestChoice.text)).", valueName: "manifest"))
    var path: String?
}

extension HostArguments {
    /// Returns the settings with the given manifest, or with the one in the current folder.
    func settings(_ manifest: String?) throws -> HostSettings {
        do { return try settings.taking(manifest) } catch { throw ValidationError(error.description) }
    }
}

/// Parses arguments; reports errors as incorrect usage.
func understood<Words>(_ read: () throws(Misuse) -> Words) throws -> Words {
    do { return try read() } catch { throw ValidationError(error.description) }
}
#endif
