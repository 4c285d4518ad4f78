// swift-tools-version: 6.3
import Glibc
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// What the environment adds to the package for those who change Backplane: `tests` adds the libraries and programs that the
/// suite loads, `1` adds the benchmarks and the program that tries hostile libraries, too.
let development = Context.environment["BACKPLANE_DEVELOPMENT"] ?? ""
if !["", "0", "tests", "1"].contains(development) {
    let error = "error: BACKPLANE_DEVELOPMENT is `\(development)`; expected `tests` or `1`, or leave it unset\n"
    write(STDERR_FILENO, error, error.utf8.count)
    exit(1)
}
let hasFixtures = ["tests", "1"].contains(development), hasBenchmarks = development == "1"

/// A product of a package that stands behind the trait `Engines`: without it only swift-argument-parser is fetched.
func engine(_ product: String, _ package: String) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: ["Engines"]))
}

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

/// A module in Swift; in `Sources` unless `path` says otherwise.
func module(
    _ name: String, _ dependencies: [Target.Dependency] = [], path: String? = nil, exclude: [String] = [],
    resources: [Resource] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: path, exclude: exclude, resources: resources,
        swiftSettings: settings)
}

/// A program in Swift.
func program(
    _ name: String, _ dependencies: [Target.Dependency], path: String? = nil, exclude: [String] = [],
    resources: [Resource] = []
) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: path, exclude: exclude, resources: resources,
        swiftSettings: settings)
}

/// A plugin in C, written against `backplane.h` alone.
func pluginInC(_ name: String, path: String) -> Target {
    let up = path.split(separator: "/").map { _ in ".." }.joined(separator: "/")
    return .target(
        name: name, path: path, publicHeadersPath: ".",
        cSettings: [.headerSearchPath("\(up)/Sources/CBackplane/include")])
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

/// A plugin's library, made of the target of its name or of others.
func plugin(_ name: String, _ targets: String...) -> Product {
    .library(name: name, type: .dynamic, targets: targets.isEmpty ? [name] : targets)
}

// The SDK: what a plugin imports.
let sdk: [Target] = [
    .target(name: "CBackplane"),
    module("Backplane", ["CBackplane"]),
    module("BackplaneNetwork", ["Backplane", "CBackplane"]),
    module("BackplaneRoutes", ["Backplane", "BackplaneNetwork"]),
    module("BackplaneScreens", ["Backplane", "BackplaneNetwork"]),
    module("BackplaneStorage", ["Backplane", "CBackplane"]),
    module("BackplaneOperations", ["Backplane", "CBackplane"]),
    module("BackplaneOperationsNetwork", ["Backplane", "BackplaneNetwork", "BackplaneOperations"]),
    module("BackplaneDocuments"),
    module("BackplaneDefinitions", ["Backplane", "BackplaneDocuments", "BackplaneNetwork"]),
]

// The host, its engines, and adapters for programs.
let host: [Target] = [
    module("BackplaneExchange", ["Backplane", "BackplaneDocuments", "BackplaneNetwork"]),
    .target(name: "CBackplaneHost", dependencies: ["CBackplane"]),
    module("BackplaneRecords", ["Backplane", "BackplaneDocuments", "BackplaneStorage"]),
    module(
        "BackplaneTransfers",
        ["Backplane", "BackplaneExchange", "BackplaneNetwork", "BackplaneRecords", "BackplaneStorage"]),
    module(
        "BackplaneHost",
        [
            "Backplane", "BackplaneDefinitions", "BackplaneDocuments", "BackplaneExchange",
            "BackplaneNetwork", "BackplaneRecords", "BackplaneRoutes", "BackplaneScreens", "BackplaneStorage",
            "BackplaneTransfers", "CBackplane", "CBackplaneHost",
        ]),
    module(
        "BackplaneApp", ["Backplane", "BackplaneExchange", "BackplaneHost", "BackplaneNetwork", "BackplaneScreens"]),
    module(
        "BackplaneControl",
        [
            "Backplane", "BackplaneDocuments", "BackplaneExchange", "BackplaneHost",
            "BackplaneNetwork", "BackplaneRecords", "BackplaneStorage", "BackplaneTransfers",
        ]),
    module(
        "BackplaneTestKit",
        [
            "Backplane", "BackplaneApp", "BackplaneDocuments", "BackplaneExchange", "BackplaneHost", "BackplaneNetwork",
            "BackplaneRecords", "BackplaneScreens", "BackplaneStorage",
        ]),
    module(
        "BackplaneConformance",
        [
            "Backplane", "BackplaneExchange", "BackplaneNetwork", "BackplaneRecords", "BackplaneStorage",
            "BackplaneTestKit",
        ]),
    module("BackplaneURLSession", ["Backplane", "BackplaneExchange", "BackplaneNetwork"]),
    module(
        "BackplaneHTTP",
        [
            "Backplane", "BackplaneExchange", "BackplaneNetwork",
            engine("AsyncHTTPClient", "async-http-client"),
            engine("NIOCore", "swift-nio"), engine("NIOHTTP1", "swift-nio"), engine("NIOHTTP2", "swift-nio-http2"),
            engine("NIOPosix", "swift-nio"), engine("NIOSSL", "swift-nio-ssl"),
            .target(name: "CZlib", condition: .when(traits: ["Engines"])),
        ]),
    .systemLibrary(name: "CZlib"),
    module(
        "BackplaneSQLite",
        [
            "Backplane", "BackplaneExchange", "BackplaneNetwork", "BackplaneRecords", "BackplaneStorage",
            engine("GRDB", "GRDB.swift"),
        ]),
    module(
        "BackplaneServiceLifecycle",
        ["Backplane", "BackplaneHost", engine("ServiceLifecycle", "swift-service-lifecycle")]),
    module("BackplaneSwiftLog", ["Backplane", "BackplaneHost", engine("Logging", "swift-log")]),
    module(
        "BackplaneHummingbird",
        [
            "Backplane", "BackplaneApp", "BackplaneExchange", "BackplaneHost", "BackplaneNetwork", "BackplaneRoutes",
            "BackplaneScreens",
            engine("HTTPTypes", "swift-http-types"), engine("Hummingbird", "hummingbird"),
            engine("HummingbirdCore", "hummingbird"), engine("HummingbirdTLS", "hummingbird"),
            engine("Logging", "swift-log"), engine("NIOCore", "swift-nio"), engine("NIOHTTPTypes", "swift-nio-extras"),
            engine("NIOSSL", "swift-nio-ssl"), engine("ServiceLifecycle", "swift-service-lifecycle"),
            engine("Tracing", "swift-distributed-tracing"),
        ]),
    module(
        "BackplaneMetrics",
        [
            "Backplane", "BackplaneExchange", "BackplaneHost", "BackplaneNetwork", engine("Metrics", "swift-metrics"),
            engine("ServiceLifecycle", "swift-service-lifecycle"),
        ]),
    module(
        "BackplaneTracing",
        [
            "Backplane", "BackplaneExchange", "BackplaneHost", "BackplaneNetwork",
            engine("Tracing", "swift-distributed-tracing"),
        ]),
]

// The command line: what its verbs share, its programs, and the command itself, which picks the engines.
let command: [Target] = [
    module(
        "BackplaneTools",
        [
            "Backplane", "BackplaneControl", "BackplaneDocuments", "BackplaneHost", "CBackplane",
            "CBackplaneHost", "TurnstileContracts",
        ], exclude: ["Templates"]),
    program(
        "BackplaneCommand",
        [
            "Backplane", "BackplaneApp", "BackplaneControl", "BackplaneDefinitions",
            "BackplaneDocuments", "BackplaneExchange", "BackplaneHTTP", "BackplaneHost", "BackplaneHummingbird",
            "BackplaneNetwork", "BackplaneRecords", "BackplaneSQLite", "BackplaneScreens",
            "BackplaneStorage", "BackplaneTools", "BackplaneTransfers", "BackplaneURLSession", "BookshelfContracts",
            "CBackplaneHost", argumentParser,
        ]),
]

// The example application: its plugins, its server, and the turnstile that the demo swaps under load.
let example: [Target] = [
    pluginInC("Clock", path: "Plugins/Clock"),
    module("Almanac", ["Backplane", "BackplaneNetwork"], path: "Plugins/Almanac"),
    module("BookshelfContracts", ["Backplane", "BackplaneNetwork"], path: "Plugins/BookshelfContracts"),
    module(
        "Bookshelf", ["Backplane", "BackplaneOperations", "BackplaneStorage", "BookshelfContracts"],
        path: "Plugins/Bookshelf", resources: [.copy("Resources/fillers.json")]),
    module(
        "LibraryRoutes", ["Backplane", "BackplaneNetwork", "BackplaneRoutes", "BookshelfContracts"],
        path: "Plugins/LibraryRoutes",
        resources: [.copy("Resources/catalogue.html"), .copy("Resources/catalogue.css")]),
    module(
        "CatalogueScreens", ["Backplane", "BackplaneScreens", "BookshelfContracts"], path: "Plugins/CatalogueScreens"),
    module("LoansScreens", ["Backplane", "BackplaneScreens", "BookshelfContracts"], path: "Plugins/LoansScreens"),
    module("Popularity", ["Backplane", "BookshelfContracts"], path: "Plugins/Popularity"),
    module("BooksAPIv1", ["Backplane", "BackplaneNetwork", "BookshelfContracts"], path: "Plugins/BooksAPIv1"),
    module("BooksAPIv2", ["Backplane", "BackplaneNetwork", "BookshelfContracts"], path: "Plugins/BooksAPIv2"),
    module("BooksOnFirebase", ["Backplane", "BackplaneNetwork", "BookshelfContracts"], path: "Plugins/BooksOnFirebase"),
    module("Firebase", ["Backplane", "BackplaneDocuments", "BackplaneNetwork"], path: "Plugins/Firebase"),
    module("FlatBooks", ["Backplane", "BackplaneDefinitions", "BookshelfContracts"], path: "Plugins/FlatBooks"),
    program(
        "BookshelfServer", ["BackplaneTestKit"], path: "Sources/bookshelf-server",
        resources: [.copy("Resources/catalogue.json")]),
    module("TurnstileContracts", ["Backplane"], path: "Plugins/Turnstile/Contracts"),
    module("TurnstileFirst", ["Backplane", "TurnstileContracts"], path: "Plugins/Turnstile/First"),
    module("TurnstileSecond", ["Backplane", "TurnstileContracts"], path: "Plugins/Turnstile/Second"),
]

let package = Package(
    name: "backplane",
    products: [
        .library(name: "Backplane", targets: ["Backplane"]),
        .library(name: "BackplaneNetwork", targets: ["BackplaneNetwork"]),
        .library(name: "BackplaneRoutes", targets: ["BackplaneRoutes"]),
        .library(name: "BackplaneScreens", targets: ["BackplaneScreens"]),
        .library(name: "BackplaneDefinitions", targets: ["BackplaneDefinitions"]),
        .library(name: "BackplaneExchange", targets: ["BackplaneExchange"]),
        .library(name: "BackplaneTransfers", targets: ["BackplaneTransfers"]),
        .library(name: "BackplaneStorage", targets: ["BackplaneStorage"]),
        .library(name: "BackplaneOperations", targets: ["BackplaneOperations"]),
        .library(name: "BackplaneOperationsNetwork", targets: ["BackplaneOperationsNetwork"]),
        .library(name: "BackplaneRecords", targets: ["BackplaneRecords"]),
        .library(name: "BackplaneDocuments", targets: ["BackplaneDocuments"]),
        .library(name: "BackplaneHost", targets: ["BackplaneHost"]),
        .library(name: "BackplaneApp", targets: ["BackplaneApp"]),
        .library(name: "BackplaneControl", targets: ["BackplaneControl"]),
        .library(name: "BackplaneTestKit", targets: ["BackplaneTestKit", "BackplaneConformance"]),
        .library(name: "BackplaneSQLite", targets: ["BackplaneSQLite"]),
        .library(name: "BackplaneHTTP", targets: ["BackplaneHTTP"]),
        .library(name: "BackplaneURLSession", targets: ["BackplaneURLSession"]),
        .library(name: "BackplaneServiceLifecycle", targets: ["BackplaneServiceLifecycle"]),
        .library(name: "BackplaneSwiftLog", targets: ["BackplaneSwiftLog"]),
        .library(name: "BackplaneHummingbird", targets: ["BackplaneHummingbird"]),
        .library(name: "BackplaneMetrics", targets: ["BackplaneMetrics"]),
        .library(name: "BackplaneTracing", targets: ["BackplaneTracing"]),
        .executable(name: "backplane", targets: ["BackplaneCommand"]),

        // The example application.
        .executable(name: "bookshelf-server", targets: ["BookshelfServer"]),
        plugin("Bookshelf"),
        plugin("LibraryRoutes"),
        plugin("CatalogueScreens"),
        plugin("LoansScreens"),
        plugin("Popularity"),
        plugin("BooksAPIv1"),
        plugin("BooksAPIv2"),
        plugin("BooksOnFirebase"),
        plugin("Firebase"),
        plugin("FlatBooks"),
        plugin("Clock"),
        plugin("Almanac"),
        plugin("Turnstile1", "TurnstileFirst"),
        plugin("Turnstile2", "TurnstileSecond"),
    ],
    traits: [
        .trait(
            name: "Engines",
            description:
                "AsyncHTTPClient, Hummingbird and SQLite behind the host, and adapters for swift-log and other packages"
        ),
        .default(enabledTraits: ["Engines"]),
    ],
    // Ranges, so that the engines suit a program that needs other versions. They begin where what is used here is known to
    // exist; those with `traits:` where the package has traits.
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.1"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.9.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.81.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.0"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.36.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.29.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.8.0"),
    ],
    targets: sdk + host + command + example)

// The suite. Its plugins are modules, so that tests link them, and libraries only for those who run it.
package.targets += [
    module(
        "TestFixtures",
        [
            "Backplane", "BackplaneDocuments", "BackplaneExchange", "BackplaneHost", "BackplaneRecords",
            "BackplaneStorage", "BackplaneTestKit", "Challenge",
        ], path: "Tests/Fixtures"),
    module("Challenge", ["Backplane"], path: "Tests/Plugins/Challenge"),
    module(
        "ParityContracts", ["Backplane", "CBackplane"], path: "Tests/Plugins/Parity/Contracts"),
    tests(
        "BackplaneTests", ["Backplane", "BackplaneDocuments", "BackplaneHost", "CBackplane", "TestFixtures"]),
    tests(
        "BackplaneRoutesTests",
        ["Backplane", "BackplaneHost", "BackplaneNetwork", "BackplaneRoutes", "BackplaneTestKit"]),
    tests(
        "BackplaneScreensTests",
        [
            "Backplane", "BackplaneApp", "BackplaneExchange", "BackplaneHost", "BackplaneNetwork", "BackplaneScreens",
            "BackplaneTestKit", "TestFixtures",
        ]),
    tests(
        "BackplaneDefinitionsTests",
        [
            "Backplane", "BackplaneDefinitions", "BackplaneDocuments", "BackplaneExchange", "BackplaneNetwork",
            "BackplaneTestKit", "BackplaneURLSession", "TestFixtures",
        ]),
    tests(
        "BackplaneHostTests",
        [
            "Almanac", "Backplane", "BackplaneControl", "BackplaneDefinitions",
            "BackplaneDocuments", "BackplaneExchange", "BackplaneHost", "BackplaneNetwork",
            "BackplaneRecords", "BackplaneScreens", "BackplaneStorage", "BackplaneTestKit", "BackplaneTransfers",
            "BookshelfContracts", "CBackplane", "Challenge", "ParityContracts", "TestFixtures",
        ], exclude: ["MustNotCompile/Cases"]),
    tests(
        "BackplaneChangeTests",
        [
            "Backplane", "BackplaneControl", "BackplaneDocuments", "BackplaneExchange", "BackplaneHost",
            "BackplaneNetwork", "BackplaneRecords", "BackplaneSQLite", "BackplaneStorage", "BackplaneTestKit",
            "BackplaneTools", "Challenge", "ParityContracts", "TestFixtures", "TurnstileContracts",
        ]),
    tests(
        "BackplaneTestKitTests",
        [
            "Backplane", "BackplaneDocuments", "BackplaneExchange", "BackplaneHost",
            "BackplaneNetwork", "BackplaneStorage", "BackplaneTestKit", "Bookshelf",
            "BookshelfContracts", "BooksAPIv1", "TestFixtures",
        ]),
    tests(
        "BackplaneStorageTests",
        [
            "Backplane", "BackplaneConformance", "BackplaneExchange", "BackplaneHost", "BackplaneNetwork",
            "BackplaneRecords", "BackplaneSQLite", "BackplaneStorage", "BackplaneTestKit", "TestFixtures",
            engine("GRDB", "GRDB.swift"),
        ]),
    tests(
        "BackplaneOperationsTests",
        [
            "Backplane", "BackplaneExchange", "BackplaneHost", "BackplaneNetwork",
            "BackplaneOperations", "BackplaneOperationsNetwork", "BackplaneTestKit", "BackplaneTransfers",
            "BackplaneURLSession", "TestFixtures",
        ]),
    tests(
        "BackplaneToolsTests",
        ["Backplane", "BackplaneHost", "BackplaneTestKit", "BackplaneTools", "CBackplane", "TestFixtures"],
        exclude: ["Snapshots"]),
    tests(
        "BackplaneProductionTests",
        [
            "Backplane", "BackplaneHost", "BackplaneServiceLifecycle", "BackplaneSwiftLog",
            engine("Logging", "swift-log"), engine("ServiceLifecycle", "swift-service-lifecycle"),
        ]),
    tests(
        "BackplaneCommandTests",
        [
            "Backplane", "BackplaneCommand", "BackplaneControl", "BackplaneExchange", "BackplaneHost",
            "BackplaneNetwork", "BackplaneTestKit", "BackplaneTools", "TestFixtures", argumentParser,
        ], exclude: ["Snapshots"]),
    tests(
        "BackplaneHTTPTests",
        [
            "Backplane", "BackplaneConformance", "BackplaneControl", "BackplaneDocuments", "BackplaneExchange",
            "BackplaneHTTP", "BackplaneHost", "BackplaneNetwork", "BackplaneTestKit", "BackplaneURLSession",
            "TestFixtures", engine("NIOCore", "swift-nio"),
            engine("NIOEmbedded", "swift-nio"), engine("NIOHTTP1", "swift-nio"), engine("NIOHTTP2", "swift-nio-http2"),
            engine("NIOPosix", "swift-nio"), engine("NIOSSL", "swift-nio-ssl"),
        ], exclude: ["TLS/certificates.pem", "TLS/make-certificates.sh"]),
    tests(
        "BackplaneServerTests",
        [
            "Backplane", "BackplaneApp", "BackplaneExchange", "BackplaneHTTP", "BackplaneHost", "BackplaneHummingbird",
            "BackplaneMetrics", "BackplaneNetwork", "BackplaneRoutes", "BackplaneScreens", "BackplaneTestKit",
            "BackplaneTracing",
            "BackplaneURLSession", "TestFixtures", engine("HTTPTypes", "swift-http-types"),
            engine("Hummingbird", "hummingbird"), engine("Logging", "swift-log"),
            engine("InMemoryTracing", "swift-distributed-tracing"), engine("Metrics", "swift-metrics"),
            engine("MetricsTestKit", "swift-metrics"), engine("NIOCore", "swift-nio"),
            engine("ServiceLifecycle", "swift-service-lifecycle"), engine("Tracing", "swift-distributed-tracing"),
        ]),
    tests(
        "BackplaneTransfersTests",
        [
            "Backplane", "BackplaneExchange", "BackplaneHTTP", "BackplaneHost", "BackplaneNetwork",
            "BackplaneRecords", "BackplaneSQLite", "BackplaneStorage", "BackplaneTestKit", "BackplaneTransfers",
            "BackplaneURLSession", "TestFixtures",
        ]),
    tests(
        "FirebaseTests",
        [
            "Backplane", "BackplaneDocuments", "BackplaneExchange", "BackplaneHTTP", "BackplaneHost",
            "BackplaneNetwork", "BackplaneTestKit", "BackplaneURLSession", "BooksOnFirebase", "Bookshelf",
            "BookshelfContracts", "Firebase", "TestFixtures",
        ]),
    tests(
        "ComingFrom",
        [
            "Backplane", "BackplaneApp", "BackplaneDefinitions", "BackplaneDocuments", "BackplaneExchange",
            "BackplaneHost", "BackplaneNetwork", "BackplaneOperations", "BackplaneOperationsNetwork",
            "BackplaneRecords", "BackplaneScreens", "BackplaneTestKit", "BackplaneTransfers", "BackplaneURLSession",
            "Challenge", "TestFixtures",
        ]),
    tests(
        "BookshelfTests",
        [
            "Backplane", "BackplaneApp", "BackplaneCommand", "BackplaneDocuments", "BackplaneExchange", "BackplaneHTTP",
            "BackplaneHost", "BackplaneHummingbird", "BackplaneNetwork", "BackplaneSQLite", "BackplaneScreens",
            "BackplaneTestKit", "BackplaneURLSession", "Bookshelf", "BookshelfContracts", "BookshelfServer",
            "Popularity", "TestFixtures",
            engine("Logging", "swift-log"), engine("ServiceLifecycle", "swift-service-lifecycle"),
        ]),
]

if hasFixtures {
    package.products += [
        plugin("_Challenge", "Challenge"), plugin("_BusyLoop", "BusyLoop"), plugin("_Relay", "LoadedRelay"),
        // No plugin, two, and one that is generic, which hosts refuse.
        plugin("_NoPlugin", "TurnstileContracts"), plugin("_TwoPlugins", "Challenge", "BusyLoop"),
        plugin("_GenericPlugin", "GenericPlugin"),
        plugin("_Parity", "ParityProvider"), plugin("_ParityRelay", "ParityRelay"), plugin("Annex"),
        plugin("FixturesInC"), plugin("Hostile"), plugin("Ledger"),
        plugin("TurnstileInC1", "TurnstileFirstInC"), plugin("TurnstileInC2", "TurnstileSecondInC"),
        plugin("Served1", "ServedFirst"), plugin("Served2", "ServedSecond"),
        plugin("Screens1", "ScreensFirst"), plugin("Screens2", "ScreensSecond"),
    ]
    package.targets += [
        module("BusyLoop", ["Backplane"], path: "Tests/Plugins/BusyLoop"),
        module("GenericPlugin", ["Backplane"], path: "Tests/Plugins/Generic"),
        module("ParityProvider", ["Backplane", "ParityContracts"], path: "Tests/Plugins/Parity/Provider"),
        module("ParityRelay", ["Backplane", "ParityContracts"], path: "Tests/Plugins/Parity/Relay"),
        module(
            "LoadedRelay", ["Backplane", "BackplaneExchange", "BackplaneNetwork", "BackplaneURLSession"],
            path: "Tests/Plugins/Relay"),
        pluginInC("FixturesInC", path: "Tests/Plugins/FixturesInC"),
        pluginInC("Hostile", path: "Tests/Plugins/Hostile/Library"),
        .target(
            name: "Ledger", path: "Tests/Plugins/Ledger", exclude: ["exports.map"], publicHeadersPath: ".",
            cxxSettings: [.headerSearchPath("../../../Sources/CBackplane/include")],
            linkerSettings: [
                // The standard library's templates would be exported, whatever -fvisibility says.
                .unsafeFlags([
                    "-Xlinker", "--version-script=\(Context.packageDirectory)/Tests/Plugins/Ledger/exports.map",
                ])
            ]),
        module("Annex", ["Backplane", "TurnstileContracts"], path: "Tests/Plugins/Annex"),
        pluginInC("TurnstileFirstInC", path: "Tests/Plugins/TurnstileInC/First"),
        pluginInC("TurnstileSecondInC", path: "Tests/Plugins/TurnstileInC/Second"),
        module("ScreensParts", ["Backplane", "BackplaneScreens"], path: "Tests/Plugins/Screens/Common"),
        module("ScreensFirst", ["Backplane", "BackplaneScreens", "ScreensParts"], path: "Tests/Plugins/Screens/First"),
        module(
            "ScreensSecond", ["Backplane", "BackplaneScreens", "ScreensParts"], path: "Tests/Plugins/Screens/Second"),
        module("ServedParts", ["BackplaneNetwork", "BackplaneRoutes"], path: "Tests/Plugins/Served/Common"),
        module("ServedFirst", ["Backplane", "BackplaneRoutes", "ServedParts"], path: "Tests/Plugins/Served/First"),
        module("ServedSecond", ["Backplane", "BackplaneRoutes", "ServedParts"], path: "Tests/Plugins/Served/Second"),
        program(
            "occupied-pool", ["Backplane", "BackplaneControl", "BackplaneHost", "BusyLoop"],
            path: "Tests/OccupiedPool"),
        .executableTarget(name: "litmus", dependencies: ["CBackplane"], path: "Tests/Litmus"),
        .target(name: "SyncCounter", path: "Tests/SyncCounter"),
        program(
            "store-writer",
            [
                "Backplane", "BackplaneHost", "BackplaneNetwork", "BackplaneRecords", "BackplaneSQLite",
                "BackplaneStorage", "SyncCounter",
            ], path: "Tests/StoreWriter"),
        program(
            "transfer-worker",
            [
                "Backplane", "BackplaneExchange", "BackplaneHTTP", "BackplaneNetwork", "BackplaneRecords",
                "BackplaneSQLite", "BackplaneStorage", "BackplaneTransfers", "SyncCounter",
            ], path: "Tests/TransferWorker"),
    ]
}

if hasBenchmarks {
    let rig = "Sources/Benchmarks/Rig"
    package.products += [plugin("Benchmark"), plugin("BenchmarkCrowd")]
    package.targets += [
        program(
            "benchmarks",
            [
                "Backplane", "BackplaneApp", "BackplaneControl", "BackplaneDocuments", "BackplaneExchange",
                "BackplaneHTTP", "BackplaneHost", "BackplaneHummingbird", "BackplaneNetwork", "BackplaneOperations",
                "BackplaneRecords", "BackplaneSQLite", "BackplaneScreens", "BackplaneStorage", "BackplaneTools",
                "BackplaneTransfers", "BenchmarkContracts", "TurnstileContracts", argumentParser,
                engine("AsyncHTTPClient", "async-http-client"), engine("GRDB", "GRDB.swift"),
                engine("HTTPTypes", "swift-http-types"), engine("Hummingbird", "hummingbird"),
                engine("Logging", "swift-log"), engine("NIOCore", "swift-nio"),
            ], path: "Sources/Benchmarks", exclude: ["Rig"]),
        // What the benchmarks load beside the example's libraries: a plugin, and one with thousands of classes.
        module("BenchmarkContracts", ["Backplane"], path: "\(rig)/Contracts"),
        module(
            "Benchmark", ["Backplane", "BackplaneRoutes", "BackplaneScreens", "BenchmarkContracts"],
            path: "\(rig)/Benchmark"),
        pluginInC("BenchmarkCrowd", path: "\(rig)/Crowd"),
        // Libraries that do wrong, each in a host in a process of its own.
        program("hostile", ["Backplane", "BackplaneHost"], path: "Tests/Hostile"),
        program(
            "cache-proxy", ["BackplaneExchange", "BackplaneHTTP", "BackplaneNetwork", "BackplaneTestKit"],
            path: "Tests/CacheProxy"),
    ]
}
