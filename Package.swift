// swift-tools-version: 6.3
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// A product of a package that stands behind the trait `Engines`: without it nothing outside the toolchain is fetched.
func engine(_ product: String, _ package: String) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: ["Engines"]))
}

let package = Package(
    name: "backplane",
    products: [
        .library(name: "Backplane", targets: ["Backplane"]),
        .library(name: "BackplaneManagers", targets: ["BackplaneManagers"]),
        .library(name: "BackplaneNetwork", targets: ["BackplaneNetwork"]),
        .library(name: "BackplaneDefinitions", targets: ["BackplaneDefinitions"]),
        .library(name: "BackplaneExchange", targets: ["BackplaneExchange"]),
        .library(name: "BackplaneTransfers", targets: ["BackplaneTransfers"]),
        .library(name: "BackplaneStorage", targets: ["BackplaneStorage"]),
        .library(name: "BackplaneOperations", targets: ["BackplaneOperations"]),
        .library(name: "BackplaneOperationsNetwork", targets: ["BackplaneOperationsNetwork"]),
        .library(name: "BackplaneRecords", targets: ["BackplaneRecords"]),
        .library(name: "BackplaneDocuments", targets: ["BackplaneDocuments"]),
        .library(name: "BackplaneHost", targets: ["BackplaneHost"]),
        .library(name: "BackplaneControl", targets: ["BackplaneControl"]),
        .library(name: "BackplaneTestKit", targets: ["BackplaneTestKit"]),
        .library(name: "BackplaneConformance", targets: ["BackplaneConformance"]),
        .library(name: "BackplaneCrypto", targets: ["BackplaneCrypto"]),
        .library(name: "BackplaneSQLite", targets: ["BackplaneSQLite"]),
        .library(name: "BackplaneHTTP", targets: ["BackplaneHTTP"]),
        .library(name: "BackplaneURLSession", targets: ["BackplaneURLSession"]),
        .library(name: "BackplaneServiceLifecycle", targets: ["BackplaneServiceLifecycle"]),
        .library(name: "BackplaneSwiftLog", targets: ["BackplaneSwiftLog"]),
        .executable(name: "backplane", targets: ["BackplaneCommand"]),

        // The example application.
        .library(name: "BookshelfContracts", targets: ["BookshelfContracts"]),
        .library(name: "Bookshelf", type: .dynamic, targets: ["BookshelfEntry"]),
        .library(name: "Popularity", type: .dynamic, targets: ["PopularityEntry"]),
        .library(name: "BooksAPIv1", type: .dynamic, targets: ["BooksAPIv1Entry"]),
        .library(name: "BooksAPIv2", type: .dynamic, targets: ["BooksAPIv2Entry"]),
        .library(name: "FlatBooks", type: .dynamic, targets: ["FlatBooksEntry"]),
        .executable(name: "bookshelf-server", targets: ["BookshelfServer"]),
        .library(name: "Clock", type: .dynamic, targets: ["Clock"]),
        .library(name: "Almanac", type: .dynamic, targets: ["AlmanacEntry"]),

        // Libraries that only benchmarks, tests and the load of the demo use.
        .library(name: "_Benchmark", type: .dynamic, targets: ["BenchmarkEntry"]),
        .library(name: "_BenchmarkRelay", type: .dynamic, targets: ["BenchmarkRelay"]),
        .library(name: "_BenchmarkHeap", type: .dynamic, targets: ["BenchmarkHeap"]),
        .library(name: "_BenchmarkCrowd", type: .dynamic, targets: ["BenchmarkCrowd"]),
        .library(name: "_BenchmarkDrone", type: .dynamic, targets: ["BenchmarkDrone"]),
        .library(name: "_BenchmarkSwarm", type: .dynamic, targets: ["BenchmarkSwarm"]),
        .library(name: "_BenchmarkFirst", type: .dynamic, targets: ["BenchmarkFirst"]),
        .library(name: "_BenchmarkSecond", type: .dynamic, targets: ["BenchmarkSecond"]),
        .library(name: "_BenchmarkSeriesFirst", type: .dynamic, targets: ["BenchmarkSeriesFirst"]),
        .library(name: "_BenchmarkSeriesSecond", type: .dynamic, targets: ["BenchmarkSeriesSecond"]),
        .library(name: "_BenchmarkAnnex", type: .dynamic, targets: ["BenchmarkAnnex"]),
        .library(name: "_BenchmarkErrands", type: .dynamic, targets: ["BenchmarkErrands"]),
        .library(name: "_BenchmarkRounds", type: .dynamic, targets: ["BenchmarkRounds"]),
        .library(name: "_BenchmarkFirstInC", type: .dynamic, targets: ["BenchmarkFirstInC"]),
        .library(name: "_BenchmarkSecondInC", type: .dynamic, targets: ["BenchmarkSecondInC"]),
        .library(name: "_BenchmarkRenamedInC", type: .dynamic, targets: ["BenchmarkRenamedInC"]),
        .library(name: "_Challenge", type: .dynamic, targets: ["ChallengeEntry"]),
        .library(name: "_BusyLoop", type: .dynamic, targets: ["BusyLoopEntry"]),
        .library(name: "_Timepiece", type: .dynamic, targets: ["TimepieceEntry"]),
        .library(name: "_Parity", type: .dynamic, targets: ["ParityProvider"]),
        .library(name: "_ParityRelay", type: .dynamic, targets: ["ParityRelay"]),
        .library(name: "_Relay", type: .dynamic, targets: ["LoadedRelay"]),
        .library(name: "_Trespasser", type: .dynamic, targets: ["Trespasser"]),
        .library(name: "_Culprit", type: .dynamic, targets: ["Culprit"]),
    ],
    traits: [
        .trait(
            name: "Engines",
            description:
                "Everything that needs a package: HTTP, SQLite, cryptography, the command line's engines, the example's server"
        ),
        .default(enabledTraits: ["Engines"]),
    ],
    // Ranges, so that the engines suit a program that needs other versions. They begin where what is used here is known to
    // exist; those with `traits:` where the package has traits.
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.81.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.24.0"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.36.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.29.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.8.0"),
    ],
    targets: [
        // The SDK: what a plugin imports.
        .target(name: "CBackplane"),
        .target(name: "Backplane", dependencies: ["CBackplane"], swiftSettings: settings),
        .target(name: "BackplaneManagers", dependencies: ["Backplane"], swiftSettings: settings),
        .target(name: "BackplaneNetwork", dependencies: ["Backplane", "CBackplane"], swiftSettings: settings),
        .target(name: "BackplaneStorage", dependencies: ["Backplane", "CBackplane"], swiftSettings: settings),
        .target(name: "BackplaneOperations", dependencies: ["Backplane", "CBackplane"], swiftSettings: settings),
        .target(
            name: "BackplaneOperationsNetwork", dependencies: ["Backplane", "BackplaneNetwork", "BackplaneOperations"],
            swiftSettings: settings),
        .target(name: "BackplaneDocuments", swiftSettings: settings),
        .target(
            name: "BackplaneDefinitions", dependencies: ["Backplane", "BackplaneDocuments", "BackplaneNetwork"],
            swiftSettings: settings),

        // The runtime and its engines.
        .target(
            name: "BackplaneExchange", dependencies: ["Backplane", "BackplaneDocuments", "BackplaneNetwork"],
            swiftSettings: settings),
        .target(name: "CBackplaneHost", dependencies: ["CBackplane"]),
        .target(name: "BackplaneBoundary", dependencies: ["Backplane", "CBackplane"], swiftSettings: settings),
        .target(
            name: "BackplaneRecords", dependencies: ["Backplane", "BackplaneDocuments", "BackplaneStorage"],
            swiftSettings: settings),
        .target(
            name: "BackplaneTransfers",
            dependencies: [
                "Backplane", "BackplaneExchange", "BackplaneNetwork", "BackplaneRecords", "BackplaneStorage",
            ],
            swiftSettings: settings),
        .target(
            name: "BackplaneHost",
            dependencies: [
                "Backplane", "BackplaneBoundary", "BackplaneDefinitions", "BackplaneDocuments", "BackplaneExchange",
                "BackplaneNetwork", "BackplaneRecords",
                "BackplaneStorage", "BackplaneTransfers",
                "CBackplane", "CBackplaneHost",
            ],
            swiftSettings: settings),
        .target(
            name: "BackplaneCrypto", dependencies: ["BackplaneNetwork", engine("Crypto", "swift-crypto")],
            swiftSettings: settings),
        .target(
            name: "BackplaneSQLite",
            dependencies: ["Backplane", "BackplaneRecords", "BackplaneStorage", engine("GRDB", "GRDB.swift")],
            swiftSettings: settings),
        .target(
            name: "BackplaneHTTP",
            dependencies: [
                "Backplane", "BackplaneExchange", "BackplaneNetwork",
                engine("AsyncHTTPClient", "async-http-client"), engine("HTTPTypes", "swift-http-types"),
                engine("NIOCore", "swift-nio"), engine("NIOHTTP1", "swift-nio"),
                engine("NIOHTTP2", "swift-nio-http2"), engine("NIOHTTPCompression", "swift-nio-extras"),
                engine("NIOPosix", "swift-nio"), engine("NIOSSL", "swift-nio-ssl"),
            ],
            swiftSettings: settings),
        .target(
            name: "BackplaneTestKit",
            dependencies: [
                "Backplane", "BackplaneDocuments", "BackplaneExchange", "BackplaneHost", "BackplaneNetwork",
                "BackplaneRecords", "BackplaneStorage",
            ],
            swiftSettings: settings),
        .target(
            name: "BackplaneConformance",
            dependencies: [
                "Backplane", "BackplaneExchange", "BackplaneNetwork", "BackplaneRecords", "BackplaneStorage",
                "BackplaneTestKit",
                engine("Crypto", "swift-crypto"), engine("NIOCore", "swift-nio"), engine("NIOHTTP1", "swift-nio"),
                engine("NIOHTTP2", "swift-nio-http2"), engine("NIOPosix", "swift-nio"),
                engine("NIOSSL", "swift-nio-ssl"),
            ],
            swiftSettings: settings),
        .target(
            name: "BackplaneURLSession", dependencies: ["Backplane", "BackplaneExchange", "BackplaneNetwork"],
            swiftSettings: settings),
        .target(
            name: "BackplaneServiceLifecycle",
            dependencies: [
                "Backplane", "BackplaneHost", engine("ServiceLifecycle", "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
        .target(
            name: "BackplaneSwiftLog",
            dependencies: ["Backplane", "BackplaneHost", engine("Logging", "swift-log")],
            swiftSettings: settings),
        .target(
            name: "BackplaneControl",
            dependencies: [
                "Backplane", "BackplaneBoundary", "BackplaneDocuments", "BackplaneExchange", "BackplaneHost",
                "BackplaneNetwork", "BackplaneRecords", "BackplaneStorage", "BackplaneTransfers",
            ],
            swiftSettings: settings),

        // The command line: what its verbs share, its programs, and the command itself, which picks the engines.
        .target(name: "BackplaneTerminal", dependencies: ["Backplane"], swiftSettings: settings),
        .target(
            name: "BackplaneReports",
            dependencies: ["Backplane", "BackplaneDocuments", "BackplaneHost", "BackplaneTerminal"],
            swiftSettings: settings),
        .target(
            name: "BackplaneProcesses", dependencies: ["Backplane", "BackplaneHost", "CBackplaneHost"],
            swiftSettings: settings),
        .target(
            name: "BackplanePackages",
            dependencies: ["Backplane", "BackplaneHost", "BackplaneProcesses", "BackplaneTerminal"],
            swiftSettings: settings),
        .target(
            name: "BackplaneScaffold",
            dependencies: [
                "Backplane", "BackplaneDocuments", "BackplaneHost", "BackplanePackages", "BackplaneTerminal",
            ], swiftSettings: settings),
        .target(
            name: "BackplaneDev",
            dependencies: [
                "Backplane", "BackplaneControl", "BackplaneHost", "BackplanePackages", "BackplaneProcesses",
                "BackplaneReports", "BackplaneTerminal",
            ],
            swiftSettings: settings),
        .target(
            name: "BackplaneValidate",
            dependencies: [
                "Backplane", "BackplaneBoundary", "BackplaneDocuments", "BackplaneHost", "BackplaneProcesses",
                "BackplaneTerminal", "CBackplane", "CBackplaneHost",
            ],
            swiftSettings: settings),
        .target(
            name: "TurnstileContracts", dependencies: ["Backplane"], path: "Sources/BackplaneSwapLoad/Contracts",
            swiftSettings: settings),
        .target(
            name: "BackplaneSwapLoad",
            dependencies: ["Backplane", "BackplaneHost", "BackplaneReports", "TurnstileContracts"],
            exclude: ["Contracts"], swiftSettings: settings),
        .target(
            name: "BackplaneBench",
            dependencies: [
                "Backplane", "BackplaneBoundary", "BackplaneConformance", "BackplaneControl", "BackplaneDefinitions",
                "BackplaneDocuments", "BackplaneExchange", "BackplaneHTTP", "BackplaneHost", "BackplaneNetwork",
                "BackplaneOperations",
                "BackplaneProcesses",
                "BackplaneRecords", "BackplaneReports", "BackplaneSQLite", "BackplaneStorage", "BackplaneSwapLoad",
                "BackplaneTerminal", "BackplaneTestKit", "BackplaneTransfers", "BenchmarkContracts", "BenchmarkDirect",
                "TurnstileContracts",
                engine("AsyncHTTPClient", "async-http-client"), engine("GRDB", "GRDB.swift"),
                engine("NIOCore", "swift-nio"), engine("NIOHTTP1", "swift-nio"),
            ],
            exclude: ["Rig"], swiftSettings: settings),
        .executableTarget(
            name: "BackplaneCommand",
            dependencies: [
                "Backplane", "BackplaneBench", "BackplaneBoundary", "BackplaneControl", "BackplaneCrypto",
                "BackplaneDefinitions", "BackplaneDev",
                "BackplaneDocuments", "BackplaneExchange", "BackplaneHTTP", "BackplaneHost",
                "BackplaneManagers", "BackplaneNetwork", "BackplaneProcesses", "BackplaneRecords",
                "BackplaneReports", "BackplaneSQLite",
                "BackplaneScaffold", "BackplaneStorage", "BackplaneSwapLoad", "BackplaneTerminal", "BackplaneTransfers",
                "BackplaneURLSession", "BackplaneValidate", "BookshelfContracts",
                "CBackplaneHost",
                engine("ArgumentParser", "swift-argument-parser"),
            ],
            swiftSettings: settings),

        // The example's plugins.
        .target(
            name: "Clock", path: "Plugins/Clock", publicHeadersPath: ".",
            cSettings: [.headerSearchPath("../../Sources/CBackplane/include")]),
        .target(
            name: "AlmanacModule", dependencies: ["Backplane", "BackplaneManagers", "BackplaneNetwork"],
            path: "Plugins/Almanac/Module", swiftSettings: settings),
        .target(
            name: "AlmanacEntry", dependencies: ["AlmanacModule", "Backplane", "CBackplane"],
            path: "Plugins/Almanac/Entry", swiftSettings: settings),
        .target(
            name: "BookshelfContracts", dependencies: ["Backplane", "BackplaneManagers", "BackplaneNetwork"],
            path: "Plugins/BookshelfContracts", swiftSettings: settings),
        .target(
            name: "BookshelfModule",
            dependencies: [
                "Backplane", "BackplaneManagers", "BackplaneOperations", "BackplaneStorage", "BookshelfContracts",
            ],
            path: "Plugins/Bookshelf/Module",
            resources: [.copy("Resources/fillers.json")], swiftSettings: settings),
        .target(
            name: "BookshelfEntry", dependencies: ["Backplane", "BookshelfModule", "CBackplane"],
            path: "Plugins/Bookshelf/Entry", swiftSettings: settings),
        .target(
            name: "PopularityModule", dependencies: ["Backplane", "BookshelfContracts"],
            path: "Plugins/Popularity/Module", swiftSettings: settings),
        .target(
            name: "PopularityEntry", dependencies: ["Backplane", "CBackplane", "PopularityModule"],
            path: "Plugins/Popularity/Entry", swiftSettings: settings),
        .target(
            name: "BooksAPIv1Module", dependencies: ["Backplane", "BackplaneNetwork", "BookshelfContracts"],
            path: "Plugins/BooksAPIv1/Module",
            swiftSettings: settings),
        .target(
            name: "BooksAPIv1Entry", dependencies: ["Backplane", "BooksAPIv1Module", "CBackplane"],
            path: "Plugins/BooksAPIv1/Entry", swiftSettings: settings),
        .target(
            name: "BooksAPIv2Module", dependencies: ["Backplane", "BackplaneNetwork", "BookshelfContracts"],
            path: "Plugins/BooksAPIv2/Module",
            swiftSettings: settings),
        .target(
            name: "BooksAPIv2Entry", dependencies: ["Backplane", "BooksAPIv2Module", "CBackplane"],
            path: "Plugins/BooksAPIv2/Entry", swiftSettings: settings),
        .target(
            name: "FlatBooksModule", dependencies: ["Backplane", "BackplaneDefinitions", "BookshelfContracts"],
            path: "Plugins/FlatBooks/Module", swiftSettings: settings),
        .target(
            name: "FlatBooksEntry", dependencies: ["Backplane", "CBackplane", "FlatBooksModule"],
            path: "Plugins/FlatBooks/Entry", swiftSettings: settings),

        // What `backplane bench` calls: two plugins, and the same without a boundary; and what counts allocations.
        .target(
            name: "BenchmarkContracts", dependencies: ["Backplane"], path: "Sources/BackplaneBench/Rig/Contracts",
            swiftSettings: settings),
        .target(
            name: "BenchmarkModule", dependencies: ["Backplane", "BenchmarkContracts"],
            path: "Sources/BackplaneBench/Rig/Module", swiftSettings: settings),
        .target(
            name: "BenchmarkEntry", dependencies: ["Backplane", "CBackplane", "BenchmarkModule"],
            path: "Sources/BackplaneBench/Rig/Entry", swiftSettings: settings),
        .target(
            name: "BenchmarkRelay", dependencies: ["Backplane", "CBackplane", "BenchmarkContracts"],
            path: "Sources/BackplaneBench/Rig/Relay", swiftSettings: settings),
        .target(
            name: "BenchmarkDirect", dependencies: ["Backplane", "BenchmarkContracts"],
            path: "Sources/BackplaneBench/Rig/Direct", swiftSettings: settings),
        .target(name: "BenchmarkHeap", path: "Sources/BackplaneBench/Rig/Heap", publicHeadersPath: "."),
        // What it loads: a library with thousands of classes, and two that are copied many times.
        .target(
            name: "BenchmarkCrowd", path: "Sources/BackplaneBench/Rig/Crowd", publicHeadersPath: ".",
            cSettings: [.headerSearchPath("../../../CBackplane/include")]),
        .target(
            name: "BenchmarkDrone", path: "Sources/BackplaneBench/Rig/Drone", publicHeadersPath: ".",
            cSettings: [.headerSearchPath("../../../CBackplane/include")]),
        .target(
            name: "BenchmarkSwarm", dependencies: ["Backplane", "CBackplane", "BenchmarkContracts"],
            path: "Sources/BackplaneBench/Rig/Swarm", swiftSettings: settings),
        // What it swaps: two editions of a plugin, in Swift and in C, and another plugin with the same class.
        .target(
            name: "BenchmarkFirst", dependencies: ["Backplane", "CBackplane", "TurnstileContracts"],
            path: "Sources/BackplaneBench/Rig/First", swiftSettings: settings),
        .target(
            name: "BenchmarkSecond", dependencies: ["Backplane", "CBackplane", "TurnstileContracts"],
            path: "Sources/BackplaneBench/Rig/Second", swiftSettings: settings),
        .target(
            name: "BenchmarkSeries", dependencies: ["Backplane", "BenchmarkContracts"],
            path: "Sources/BackplaneBench/Rig/Series", swiftSettings: settings),
        .target(
            name: "BenchmarkSeriesFirst", dependencies: ["Backplane", "CBackplane", "BenchmarkSeries"],
            path: "Sources/BackplaneBench/Rig/SeriesFirst", swiftSettings: settings),
        .target(
            name: "BenchmarkSeriesSecond", dependencies: ["Backplane", "CBackplane", "BenchmarkSeries"],
            path: "Sources/BackplaneBench/Rig/SeriesSecond", swiftSettings: settings),
        .target(
            name: "BenchmarkAnnex", dependencies: ["Backplane", "CBackplane", "TurnstileContracts"],
            path: "Sources/BackplaneBench/Rig/Annex", swiftSettings: settings),
        .target(
            name: "BenchmarkErrands",
            dependencies: ["Backplane", "BackplaneNetwork", "CBackplane", "TurnstileContracts"],
            path: "Sources/BackplaneBench/Rig/Errands", swiftSettings: settings),
        .target(
            name: "BenchmarkRounds",
            dependencies: ["Backplane", "BackplaneNetwork", "BackplaneOperations", "CBackplane", "TurnstileContracts"],
            path: "Sources/BackplaneBench/Rig/Rounds", swiftSettings: settings),
        .target(
            name: "BenchmarkFirstInC", path: "Sources/BackplaneBench/Rig/FirstInC", publicHeadersPath: ".",
            cSettings: [.headerSearchPath("../../../CBackplane/include")]),
        .target(
            name: "BenchmarkSecondInC", path: "Sources/BackplaneBench/Rig/SecondInC", publicHeadersPath: ".",
            cSettings: [.headerSearchPath("../../../CBackplane/include")]),
        .target(
            name: "BenchmarkRenamedInC", path: "Sources/BackplaneBench/Rig/RenamedInC", publicHeadersPath: ".",
            cSettings: [.headerSearchPath("../../../CBackplane/include")]),

        // The example's HTTP backend.
        .executableTarget(
            name: "BookshelfServer",
            dependencies: [
                engine("ArgumentParser", "swift-argument-parser"), engine("Crypto", "swift-crypto"),
                engine("Hummingbird", "hummingbird"),
                engine("HTTPTypes", "swift-http-types"), engine("Logging", "swift-log"), engine("NIOCore", "swift-nio"),
                engine("ServiceLifecycle", "swift-service-lifecycle"), engine("UnixSignals", "swift-service-lifecycle"),
            ],
            path: "Sources/bookshelf-server", resources: [.copy("Resources/catalogue.json")], swiftSettings: settings),

        // Plugins that only the tests load.
        .target(
            name: "ChallengeModule", dependencies: ["Backplane"], path: "Tests/Plugins/Challenge/Module",
            swiftSettings: settings),
        .target(
            name: "ChallengeEntry", dependencies: ["ChallengeModule", "Backplane", "CBackplane"],
            path: "Tests/Plugins/Challenge/Entry", swiftSettings: settings),
        .target(
            name: "BusyLoopModule", dependencies: ["Backplane"], path: "Tests/Plugins/BusyLoop/Module",
            swiftSettings: settings),
        .target(
            name: "BusyLoopEntry", dependencies: ["BusyLoopModule", "Backplane", "CBackplane"],
            path: "Tests/Plugins/BusyLoop/Entry", swiftSettings: settings),
        .executableTarget(
            name: "occupied-pool", dependencies: ["Backplane", "BackplaneControl", "BackplaneHost", "BusyLoopModule"],
            path: "Tests/OccupiedPool", swiftSettings: settings),
        .target(name: "SyncCounter", path: "Tests/SyncCounter"),
        .executableTarget(
            name: "store-writer",
            dependencies: [
                "Backplane", "BackplaneHost", "BackplaneRecords", "BackplaneSQLite", "BackplaneStorage", "SyncCounter",
            ],
            path: "Tests/StoreWriter", swiftSettings: settings),
        .executableTarget(
            name: "transfer-worker",
            dependencies: [
                "Backplane", "BackplaneExchange", "BackplaneHTTP", "BackplaneNetwork", "BackplaneRecords",
                "BackplaneSQLite", "BackplaneStorage", "BackplaneTransfers", "SyncCounter",
            ],
            path: "Tests/TransferWorker", swiftSettings: settings),
        .executableTarget(name: "litmus", dependencies: ["CBackplane"], path: "Tests/Litmus"),
        .target(
            name: "TimepieceModule", dependencies: ["Backplane"], path: "Tests/Plugins/Timepiece/Module",
            swiftSettings: settings),
        .target(
            name: "TimepieceEntry", dependencies: ["TimepieceModule", "Backplane", "CBackplane"],
            path: "Tests/Plugins/Timepiece/Entry", swiftSettings: settings),
        .target(
            name: "ParityContracts", dependencies: ["Backplane", "BackplaneManagers", "CBackplane"],
            path: "Tests/Plugins/Parity/Contracts", swiftSettings: settings),
        .target(
            name: "ParityProvider", dependencies: ["Backplane", "CBackplane", "ParityContracts"],
            path: "Tests/Plugins/Parity/Provider",
            swiftSettings: settings),
        .target(
            name: "ParityRelay", dependencies: ["Backplane", "CBackplane", "ParityContracts"],
            path: "Tests/Plugins/Parity/Relay", swiftSettings: settings),
        .target(
            name: "LoadedRelay",
            dependencies: ["Backplane", "BackplaneExchange", "BackplaneNetwork", "BackplaneURLSession", "CBackplane"],
            path: "Tests/Plugins/Relay", swiftSettings: settings),
        .target(
            name: "Trespasser", path: "Tests/Plugins/Hostile/Trespasser", publicHeadersPath: ".",
            cSettings: [.headerSearchPath("../../../../Sources/CBackplane/include")]),
        .target(
            name: "Culprit", path: "Tests/Plugins/Hostile/Culprit", publicHeadersPath: ".",
            cSettings: [.headerSearchPath("../../../../Sources/CBackplane/include")]),

        // Libraries that do wrong, what a host says of them, and what `validate` finds.
        .executableTarget(
            name: "hostile", dependencies: ["Backplane", "BackplaneHost", "BackplaneNetwork"], path: "Tests/Hostile",
            swiftSettings: settings),

        // Attacks on hosts in processes of their own, from a seed.
        .executableTarget(
            name: "attack", dependencies: ["BackplaneDocuments", "BackplaneHost", "TestGenerators"],
            path: "Tests/Attack", swiftSettings: settings),

        // Tests.
        .testTarget(
            name: "BackplaneTests",
            dependencies: ["Backplane", "BackplaneBoundary", "BackplaneManagers", "CBackplane", "litmus"],
            exclude: ["Lanes/lane-revision.txt"], swiftSettings: settings),
        .testTarget(
            name: "BackplaneManagersTests", dependencies: ["Backplane", "BackplaneManagers"], swiftSettings: settings),
        .testTarget(name: "BackplaneDocumentsTests", dependencies: ["BackplaneDocuments"], swiftSettings: settings),
        .testTarget(
            name: "BackplaneDefinitionsTests",
            dependencies: [
                "Backplane", "BackplaneDefinitions", "BackplaneDocuments", "BackplaneExchange", "BackplaneNetwork",
                "BackplaneTestKit", "BackplaneURLSession", "TestFixtures", "TestGenerators",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "BackplaneBoundaryTests", dependencies: ["Backplane", "BackplaneBoundary"], swiftSettings: settings),
        .testTarget(
            name: "BackplaneHostTests",
            dependencies: [
                "AlmanacModule", "Backplane", "BackplaneBoundary", "BackplaneControl", "BackplaneCrypto",
                "BackplaneDefinitions", "BackplaneDocuments", "BackplaneExchange", "BackplaneHost", "BackplaneManagers",
                "BackplaneNetwork", "BackplaneRecords", "BackplaneSQLite", "BackplaneStorage", "BackplaneTestKit",
                "BackplaneTransfers", "BookshelfContracts", "CBackplane", "ChallengeModule", "ParityContracts",
                "TestFixtures", "TestGenerators", "TimepieceModule", "TurnstileContracts", "occupied-pool",
            ],
            exclude: ["MustNotCompile/Cases"], swiftSettings: settings),
        .testTarget(
            name: "BackplaneTestKitTests",
            dependencies: [
                "Backplane", "BackplaneDocuments", "BackplaneExchange", "BackplaneHost", "BackplaneManagers",
                "BackplaneNetwork",
                "BackplaneStorage", "BackplaneTestKit", "BookshelfContracts", "BookshelfModule", "BooksAPIv1Module",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "BookshelfModuleTests",
            dependencies: [
                "Backplane", "BackplaneHost", "BackplaneManagers", "BackplaneTestKit", "BookshelfContracts",
                "BookshelfModule", "PopularityModule",
            ], swiftSettings: settings),
        .testTarget(
            name: "BackplaneStorageTests",
            dependencies: [
                "Backplane", "BackplaneConformance", "BackplaneHost", "BackplaneRecords", "BackplaneSQLite",
                "BackplaneStorage", "TestGenerators", "store-writer", engine("GRDB", "GRDB.swift"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "BackplaneOperationsTests",
            dependencies: [
                "Backplane", "BackplaneBoundary", "BackplaneExchange", "BackplaneHost", "BackplaneNetwork",
                "BackplaneOperations", "BackplaneOperationsNetwork", "BackplaneTestKit", "BackplaneTransfers",
                "BackplaneURLSession",
            ],
            swiftSettings: settings),
        .target(
            name: "TestFixtures", dependencies: ["BackplaneDocuments"], path: "Tests/Fixtures", swiftSettings: settings),
        .target(
            name: "TestGenerators",
            dependencies: [
                "Backplane", "BackplaneDocuments", "BackplaneExchange", "BackplaneHost", "BackplaneRecords",
                "BackplaneStorage",
            ],
            path: "Tests/Generators", swiftSettings: settings),
        .testTarget(
            name: "BackplaneControlTests", dependencies: ["Backplane", "BackplaneControl", "BackplaneHost"],
            swiftSettings: settings),
        .testTarget(
            name: "BackplaneTerminalTests",
            dependencies: ["Backplane", "BackplaneHost", "BackplaneReports", "BackplaneTerminal"],
            swiftSettings: settings),
        .testTarget(name: "BackplaneProcessesTests", dependencies: ["BackplaneProcesses"], swiftSettings: settings),
        .testTarget(
            name: "BackplaneProductionTests",
            dependencies: [
                "Backplane", "BackplaneHost", "BackplaneServiceLifecycle", "BackplaneSwiftLog",
                engine("Logging", "swift-log"), engine("ServiceLifecycle", "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "BackplaneScaffoldTests",
            dependencies: ["Backplane", "BackplanePackages", "BackplaneScaffold", "TestFixtures"],
            exclude: ["Snapshots"], swiftSettings: settings),
        .testTarget(
            name: "BackplaneDevTests",
            dependencies: [
                "Backplane", "BackplaneDev", "BackplaneHost", "BackplaneReports", "BackplaneTerminal", "TestFixtures",
            ], exclude: ["Snapshots"],
            swiftSettings: settings),
        .testTarget(
            name: "BackplaneValidateTests", dependencies: ["BackplaneTerminal", "BackplaneValidate", "CBackplane"],
            swiftSettings: settings),
        .testTarget(
            name: "BackplaneBenchTests",
            dependencies: [
                "BackplaneBench", "BackplaneSwapLoad", "BackplaneTerminal", "TestFixtures", "TurnstileContracts",
            ],
            exclude: ["Snapshots"], swiftSettings: settings),
        .testTarget(
            name: "BackplaneCommandTests",
            dependencies: [
                "Backplane", "BackplaneBench", "BackplaneCommand", "BackplaneControl", "BackplaneDev", "BackplaneHost",
                "BackplaneNetwork", "BackplanePackages", "BackplaneReports",
                "BackplaneScaffold", "BackplaneTerminal", "BackplaneTestKit", "BackplaneValidate", "TestFixtures",
                "TestGenerators", "attack", "hostile", engine("ArgumentParser", "swift-argument-parser"),
            ],
            exclude: ["Snapshots"], swiftSettings: settings),
        .testTarget(
            name: "BackplaneHTTPTests",
            dependencies: [
                "Backplane", "BackplaneConformance", "BackplaneControl", "BackplaneCrypto", "BackplaneDocuments",
                "BackplaneExchange", "BackplaneHTTP",
                "BackplaneHost", "BackplaneNetwork", "BackplaneTestKit", "BackplaneURLSession", "TestFixtures",
                "TestGenerators",
                engine("HTTPTypes", "swift-http-types"), engine("NIOCore", "swift-nio"),
                engine("NIOEmbedded", "swift-nio"), engine("NIOHTTP2", "swift-nio-http2"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "BackplaneTransfersTests",
            dependencies: [
                "Backplane", "BackplaneCrypto", "BackplaneExchange", "BackplaneHTTP", "BackplaneHost",
                "BackplaneNetwork", "BackplaneRecords", "BackplaneSQLite", "BackplaneStorage", "BackplaneTestKit",
                "BackplaneTransfers", "BackplaneURLSession", "TestFixtures", "transfer-worker",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "BookshelfTests",
            dependencies: [
                "Backplane", "BackplaneCommand", "BackplaneDocuments", "BackplaneExchange", "BackplaneHTTP",
                "BackplaneHost", "BackplaneManagers", "BackplaneNetwork", "BackplaneSQLite", "BookshelfContracts",
                "BookshelfServer",
            ],
            swiftSettings: settings),
    ])
