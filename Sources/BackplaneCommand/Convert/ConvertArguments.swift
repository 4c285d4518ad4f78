#if Engines
import ArgumentParser
import BackplaneHost

extension BackplaneTool {
    struct Convert: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Spells a manifest in another format: JSON, or a property list.",
            discussion: """
                The manifest is taken as it is written: environments, variables and unknown keys stay. What the other format cannot hold \
                is an error.

                EXAMPLES
                  backplane convert manifests/almanac.plist
                  backplane convert manifests/almanac.plist --upgrade --output almanac.json
                  backplane convert manifests/almanac.json --to binary --output almanac.plist --force
                """)

        @OptionGroup var manifest: ManifestArgument
        @Option(
            help: ArgumentHelp(
                "json, xml or binary (default: json from a property list, xml from JSON).", valueName: "format"),
            completion: .list(ManifestFormatName.names), transform: ManifestFormatName.format)
        var to: ManifestFormat?
        @Option(help: ArgumentHelp("The file to write (default: standard output).", valueName: "file")) var output:
            String?
        @Flag(help: "Replace the file if it is there.") var force = false
        @Flag(help: "Put a plain Nemo Logic manifest into the dialect of Backplane.") var upgrade = false

        func run() async throws {
            let manifest: String
            do { manifest = try ManifestChoice.taken(self.manifest.path) } catch {
                throw ValidationError(error.description)
            }
            throw ExitCode(
                ConvertCommand(manifest: manifest, format: to, output: output, force: force, upgrade: upgrade).run())
        }
    }
}
#endif
