/// The files at the root of a new package.
enum PackageText {
    static func package(_ name: String, products: [String], dependency: String, targets: [TargetText]) -> String {
        """
        // swift-tools-version: 6.3
        import PackageDescription

        let package = Package(
            name: \(name.swiftLiteral),
            products: [
        \(list(products))
            ],
            dependencies: [
                // Without its traits, Backplane depends on swift-argument-parser alone.
        \(list([dependency]))
            ],
            targets: [
        \(list(targets.map(\.text)))
            ])

        """
    }

    private static func list(_ elements: [String]) -> String {
        elements.map { "\($0),".indented(by: "        ") }.joined(separator: "\n")
    }

    static let ignoredFiles = """
        /.build*
        /Package.resolved

        """
}
