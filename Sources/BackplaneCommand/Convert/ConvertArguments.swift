#if Engines
import ArgumentParser
import BackplaneHost

extension BackplaneTool {
    struct Convert: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Convert a manifest between JSON and property list.",
            discussion: """
                The manifest is converted as it is written: environments, variables and unknown keys are kept. A value \
                that the other format cannot represent is an error.

                EXAMPLES
                  backplane convert manifests/almanac.plist
                  backplane convert manifests/almanac.plist --upgrade --output almanac.json
                  backplane convert manifests/almanac.json --to binary --output almanac.plist --force
                """)

        @OptionGroup var manifest: ManifestArguments
        @Option(
            help: ArgumentHelp(
                "The output format: json, xml or binary (default: json from a property list, xml from JSON).",
                valueName: "format"),
            completion: .list(ManifestFormatName.names), transform: ManifestFormatName.format)
        var to: ManifestFormat?
        @Option(help: ArgumentHelp("The file to write (default: standard output).", valueName: "file")) var output:
            String?
        @Flag(help: "Overwrite the file if it exists.") var force = false
        @Flag(help: "Convert a plain Nemo Logic manifest to Backplane's manifest format.") var upgrade = false

        func run() async throws {
            let manifest: String
            let given = try self.manifest.path
            do { manifest = try ManifestChoice.taken(given) } catch { throw ValidationError(error.description) }
            throw ExitCode(
                ConvertCommand(manifest: manifest, format: to, output: output, force: force, upgrade: upgrade).run())
        }
    }
}
#endif
