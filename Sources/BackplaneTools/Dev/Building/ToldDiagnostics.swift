/// The diagnostics that the user has seen, so that builds of several products report each of them once.
struct ToldDiagnostics: Sendable {
    /// The warnings of the package manager, which are identical in every build until a Package.swift changes.
    private var lasting: Set<Diagnostic> = []
    /// The diagnostics of the products that were built since the last change.
    private var ofRound: Set<Diagnostic> = []
    private var products: Set<String> = []

    var all: Set<Diagnostic> { lasting.union(ofRound) }

    /// Records that a product is being built; a second build of a product begins a new round.
    mutating func begin(_ product: String) {
        guard !products.insert(product).inserted else { return }
        (products, ofRound) = ([product], [])
    }

    /// Adds the diagnostics that a build has reported.
    mutating func add(_ diagnostics: [Diagnostic]) {
        ofRound.formUnion(diagnostics)
        lasting.formUnion(diagnostics.filter { $0.file == nil && $0.severity == "warning" })
    }

    /// Removes the warnings of the package manager.
    mutating func packagesChanged() { lasting = [] }
}
