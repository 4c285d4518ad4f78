struct Fingerprints: Sendable {
    mutating func changed(among paths: Set<String>) -> Set<String> { paths }
}
