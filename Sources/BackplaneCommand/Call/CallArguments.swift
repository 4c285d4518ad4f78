#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Call: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Call one method of a manager and print the result, or the elements of a stream, as JSON.",
            usage: "backplane call [<options>] [<manifest>] <manager> [<method> [<input>]]",
            discussion: """
                Starts only the components that the manager needs. Errors are printed on standard error, and the exit \
                code is 1. For a stream, one line is printed for each element, until it ends, --limit is reached or \
                control-C is pressed. Without a method, the manager's methods are listed with the shapes of their \
                inputs and outputs, and nothing is started.

                The first argument is the manifest if it names an existing file, contains a slash, or ends in .json or \
                .plist. Otherwise it is the manager, and the manifest is \(ManifestChoice.text).

                EXAMPLES
                  backplane call ClockManager
                  backplane call ClockManager now
                  backplane call manifests/almanac.json ClockManager now
                  backplane call manifests/almanac.json AlmanacManager on '"07-20"' --explain
                  backplane call manifests/almanac.json AlmanacManager on '"07-20"' --timeout 5
                  backplane call manifests/almanac.json ClockManager echo - < some.json
                  backplane call ClockManager now --running
                  backplane call ClockManager ticks 1 --limit 5
                  backplane call ClockManager now --trace
                """)

        @OptionGroup var host: HostArguments
        @OptionGroup var running: RunningArguments
        @Argument(
            help: ArgumentHelp(
                "The manifest (optional), the manager's name in it, the method's name in its contract (default: list them), and the input as JSON (`-`: from standard input; default: null).",
                valueName: "word"))
        var words: [String] = []
        @Option(
            help: ArgumentHelp(
                "The time in seconds after which the call, or the opening of a stream, fails.", valueName: "seconds"))
        var timeout: Double = CallCommand.timeout
        @Option(
            help: ArgumentHelp(
                "The number of elements after which a stream is closed; only for streams.", valueName: "count")
        )
        var limit: Int?
        @Flag(
            help:
                "Print the id of the call's trace, and the stages and attempts of its HTTP exchanges, on standard error."
        )
        var trace = false
        @Option(
            help: ArgumentHelp(
                "The trace that the call continues, in the format of the `traceparent` header of W3C Trace Context.",
                valueName: "traceparent"))
        var traceparent: String?
        @Flag(help: "Print on standard error which lane each wire of the started components uses, and why.")
        var explain = false
        @Flag(help: "Print the explanation, or the list of methods with JSON Schemas, as JSON.") var json = false

        func validate() throws { _ = try given() }

        private func given() throws -> CallWords {
            try understood { () throws(Misuse) in try CallWords(words) }
        }

        func run() async throws {
            let given = try given()
            let (settings, host) = try self.host.settings(given.manifest, running)
            let command = CallCommand(
                settings: settings, running: host, manager: given.manager, method: given.method,
                input: CallInput(text: given.input),
                timeout: timeout, limit: limit, showsTrace: trace, traceparent: traceparent,
                explains: explain, json: json)
            throw ExitCode(await command.run())
        }
    }
}
#endif
