/// A library in this process, as the system sees it.
enum LoadedImage {
    /// What the mappings of one file take, in bytes.
    struct Memory {
        /// This process's alone.
        var dirty = 0
        /// Address space.
        var mapped = 0
    }

    static func memory(of copies: [String]) throws -> [String: Memory] { [:] }
}
