/// Repeats something with ever longer limits until it comes as far as it is meant to: on a busy machine a short limit
/// passes before the server has had the request.
func withLonger(_ limit: Duration, _ isFarEnough: (Duration) async throws -> Bool) async throws {
    var limit = limit
    while try await !isFarEnough(limit) { limit *= 2 }
}
