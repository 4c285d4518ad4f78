#if Engines
import ArgumentParser

/// The manifest on which a command works, as the first argument or as an option.
struct ManifestArguments: ParsableArguments {
    @OptionGroup var argument: ManifestArgument
    @Option(
        help: ArgumentHelp("The manifest, instead of the first argument.", valueName: "manifest"))
    var manifest: String?

    func validate() throws { _ = try path }

    /// The given manifest; `nil` for the one in the current folder.
    var path: String? {
        get throws {
            guard let manifest else { return argument.path }
            guard let other = argument.path else { return manifest }
            throw ValidationError("--manifest and `\(other)` both name a manifest; use only one of them")
        }
    }
}

/// The argument of commands that work on a manifest, with a more specific option `--manifest`.
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
