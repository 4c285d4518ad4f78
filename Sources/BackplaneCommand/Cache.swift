import ArgumentParser
import Backplane
import BackplaneControl
import BackplaneExchange
import BackplaneNetwork
import BackplaneTools
import Foundation
import Glibc

extension BackplaneTool {
    struct Cache: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "cache",
            abstract: "List, show, count and remove the cached responses of a running host.",
            discussion: """
                EXAMPLES
                  backplane cache list
                  backplane cache show https://books.example.org/covers/whale.png --body > whale.png
                  backplane cache flush --prefix https://books.example.org/covers/
                  backplane cache flush --all --manifest manifests/bookshelf.json
                  backplane cache stats --json
                """,
            subcommands: [List.self, Show.self, Flush.self, Stats.self])
    }
}

extension BackplaneTool.Cache {
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the responses without their bodies, the most recent of each place first.",
            discussion: """
                URLs are without credentials and query.

                EXAMPLES
                  backplane cache list --limit 20
                  backplane cache list --json
                """)

        @Option(help: ArgumentHelp("The maximum number of responses.", valueName: "number")) var limit = 1_000
        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Print the list as JSON.") var json = false

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit: expected a number of at least 1, found \(limit)") }
        }

        func run() throws {
            var request = CacheRequest(.list)
            request.limit = limit
            let code = try host.choice.ask(request) { answer, _ in
                let listing = answer.listing ?? CacheListing()
                for place in listing.unlisted {
                    Output.remark("backplane: the provider of the place `\(place)` cannot list its responses")
                }
                if json {
                    Output.json(listing.entries)
                } else if listing.entries.isEmpty {
                    Output.remark("backplane: there are no responses")
                } else {
                    Output.table(CacheTable.table(listing.entries, at: Date().timeIntervalSince1970))
                }
                return 0
            }
            throw ExitCode(code)
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show the header of a response, or write its body to standard output.",
            discussion: """
                Secret fields are not shown. A URL may have several responses, for different queries and users.

                EXAMPLES
                  backplane cache show https://books.example.org/shelf
                  backplane cache show https://books.example.org/covers/whale.png --body > whale.png
                """)

        @Argument(help: "The URL, whose query is ignored, or a key from `backplane cache list --json`.")
        var response: String
        @Flag(help: "Write the body of the response, which must be the only one.") var body = false
        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Print the responses as JSON.") var json = false

        func run() throws {
            var request = CacheRequest(.show)
            (request.key, request.body) = (response, body)
            let code = try host.choice.ask(request) { answer, _ in
                let responses = answer.responses ?? []
                if json {
                    Output.json(responses)
                } else if !body {
                    for line in CacheTable.lines(responses, at: Date().timeIntervalSince1970) { Output.line(line) }
                } else if responses.count == 1, let bytes = responses[0].body {
                    Output.write(bytes: bytes, to: STDOUT_FILENO)
                } else {
                    let keys = "choose one by its key, which `backplane cache list --json` prints"
                    return Output.fail("there are \(responses.count) responses of this URL; \(keys)")
                }
                return 0
            }
            throw ExitCode(code)
        }
    }

    struct Flush: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "flush",
            abstract: "Remove responses that meet all given conditions.",
            discussion: """
                EXAMPLES
                  backplane cache flush --endpoint covers
                  backplane cache flush --prefix https://books.example.org/ --tag shelf
                  backplane cache flush --all
                """)

        @Option(help: ArgumentHelp("The name of the endpoint.", valueName: "name")) var endpoint: String?
        @Option(help: ArgumentHelp("The beginning of the URL, without credentials and query.", valueName: "url"))
        var prefix: String?
        @Option(help: ArgumentHelp("A tag.", valueName: "tag")) var tag: String?
        @Flag(help: "Remove all responses.") var all = false
        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Print the number of removed responses as JSON.") var json = false

        private var rule: CacheExpiry { CacheExpiry(endpoint: endpoint, prefix: prefix, tag: tag) }

        func validate() throws {
            guard all == (rule == .all) else {
                throw ValidationError("expected either --all, or any of --endpoint, --prefix and --tag")
            }
        }

        func run() throws {
            var request = CacheRequest(.flush)
            request.rule = rule
            let code = try host.choice.ask(request) { answer, _ in
                let count = answer.removed ?? 0
                if json {
                    Output.json(["removed": count])
                } else {
                    Output.line("removed \(counted(count, "response"))")
                }
                return 0
            }
            throw ExitCode(code)
        }
    }

    struct Stats: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "stats",
            abstract: "Count the responses, hits, misses and evictions of each place since the host started.",
            discussion: """
                EXAMPLES
                  backplane cache stats
                  backplane cache stats --json
                """)

        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Print the counts as JSON.") var json = false

        func run() throws {
            let code = try host.choice.ask(CacheRequest(.statistics)) { answer, _ in
                let places = answer.statistics ?? []
                if json { Output.json(places) } else { Output.table(CacheTable.table(places)) }
                return 0
            }
            throw ExitCode(code)
        }
    }
}

/// The tables of cached responses and of their counts.
enum CacheTable {
    /// - Parameter now: The time from which ages are counted, in seconds since 1970.
    static func table(_ entries: [CacheEntry], at now: Double) -> Table {
        Table(
            ["PLACE", "STATUS", "SIZE", "AGE", "EXPIRES", "ENDPOINT", "TAGS", "URL"],
            entries.map { entry in
                [
                    entry.place, "\(entry.status)", Figure.bytes(entry.size), time(now - entry.received),
                    expiry(of: entry, at: now), entry.endpoint?.printable ?? "-",
                    entry.tags.isEmpty ? "-" : entry.tags.joined(separator: ", ").printable, entry.url.printable,
                ].map { Span($0) }
            })
    }

    static func table(_ places: [CacheStatistics]) -> Table {
        Table(
            ["PLACE", "HITS", "MISSES", "RESPONSES", "SIZE", "LIMIT", "EVICTIONS"],
            places.map { place in
                let usage = place.usage.map { usage in
                    [
                        "\(usage.entries)", Figure.bytes(usage.bytes), Figure.bytes(usage.limit),
                        "\(usage.evictions)",
                    ]
                }
                return
                    ([place.place, "\(place.hits)", "\(place.misses)"]
                    + (usage ?? Array(repeating: "unknown", count: 4))).map { Span($0) }
            })
    }

    /// Returns the heads of responses as lines, without secret values.
    static func lines(_ responses: [CacheRequest.Response], at now: Double) -> [String] {
        responses.flatMap { response in
            let entry = response.entry, tags = entry.tags.joined(separator: ", ")
            return [
                entry.url, "key \(entry.key)",
                "\(entry.place), \(Figure.bytes(entry.size)), \(time(now - entry.received)) old, expires "
                    + expiry(of: entry, at: now)
                    + (entry.endpoint.map { ", endpoint \($0)" } ?? "") + (tags.isEmpty ? "" : ", tags \(tags)"),
                "< HTTP \(entry.status)",
            ] + response.headers.verboseLines("<")
        }.map(\.printable)
    }

    private static func expiry(of entry: CacheEntry, at now: Double) -> String {
        entry.expires <= now ? "expired" : "in \(time(entry.expires - now))"
    }

    /// Returns the text of a time in its largest unit, rounded down.
    private static func time(_ seconds: Double) -> String {
        let units = [(86_400.0, "d"), (3_600, "h"), (60, "min")]
        let (length, unit) = units.first { seconds >= $0.0 } ?? (1, "s")
        return "\(Int(min(max(seconds / length, 0), 999_999))) \(unit)"
    }
}
