import Backplane

/// Figures that are measured together and read one by one; reading one a second time repeats the measurement.
actor SharedFigures {
    private let measure: @Sendable (_ count: Int) async throws -> LoadingChild.Figures
    private var left: LoadingChild.Figures = [:]

    init(_ measure: @escaping @Sendable (_ count: Int) async throws -> LoadingChild.Figures) { self.measure = measure }

    func next(_ name: String, count: Int) async throws -> Double? {
        if left[name] == nil { left = try await measure(count) }
        return left.removeValue(forKey: name)
    }

    /// Returns a figure that every measurement contains.
    ///
    /// - Throws: `component.failed` if it is missing.
    func required(_ name: String, count: Int) async throws -> Double {
        guard let value = try await next(name, count: count) else {
            throw BackplaneError(.componentFailed, "the figure is unknown", at: name)
        }
        return value
    }
}
