#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Demo: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Run the example application against a local server.",
            discussion: """
                Starts bookshelf-server on a free loopback port, runs manifests/bookshelf-both.json against it, \
                searches in both versions of its API, borrows a book, stops the server and searches again. Leaves \
                nothing behind.

                EXAMPLES
                  backplane demo
                """)

        func run() async throws {
            throw ExitCode(await DemoCommand().run())
        }
    }
}
#endif
