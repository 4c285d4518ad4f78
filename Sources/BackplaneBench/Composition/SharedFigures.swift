import Backplane

/// Figures that come together and are asked for one by one: each is given once, then all are measured anew.
actor SharedFigures {
    private let measure: @Sendable (_ count: Int) async throws -> LoadingChild.Figures
    private var left: LoadingChild.Figures = [:]

    init(_ measure: @escaping @Sendable (_ count: Int) async throws -> LoadingChild.Figures) { self.measure = measure }

    func next(_ name: String, count: Int) async throws -> Double? {
        if left[name] == nil { left = try await measure(count) }
        return left.removeValue(forKey: name)
    }

    /// The same of one that is always measured.
    ///
    /// - Throws: `component.failed` where it was not.
    func required(_ name: String, count: Int) async throws -> Double {
        guard let value = try await next(name, count: count) else { throw BackplaneError(.componentFailed, "there is no such figure", at: name) }
        return value
    }
}
