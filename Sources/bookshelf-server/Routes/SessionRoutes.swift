#if Engines
import HTTPTypes
import Hummingbird

/// The route `/v2/sessions`, which issues a bearer token for a reader's name and password.
struct SessionRoutes: Sendable {
    private struct SignIn: Decodable {
        var reader: String
        var password: String
    }
    private struct Session: Encodable {
        var token: String
        /// The lifetime of the token, in seconds.
        var expiresIn: Int
    }
    let sessions: Sessions

    func add(to router: BookshelfRouter) {
        router.route(
            "/v2/sessions",
            [
                .post: { request, _ in
                    let claim = try await request.json(SignIn.self)
                    guard let token = sessions.signIn(Credentials(reader: claim.reader, password: claim.password))
                    else {
                        throw Failure.unauthorized("credentials.wrong", "No reader has this name and password.")
                    }
                    let session = Session(token: token, expiresIn: Int(sessions.lifetime.components.seconds))
                    return try .json(session, status: .created, headers: [.cacheControl: "no-store"])
                }
            ])
    }
}
#endif
