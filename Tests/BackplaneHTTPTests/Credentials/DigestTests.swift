import BackplaneNetwork
import Testing

@testable import BackplaneExchange

/// Digest authentication (RFC 7616): the RFC's vectors, the choice among challenges, and what a challenge may ask for.
struct DigestTests {
    private static let clientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
    private static let fields = """
        Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=%, \
        nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
        """

    private func challenges(_ fields: String...) -> [AuthenticationChallenge] {
        var headers: HTTPHeaders = [:]
        for field in fields { headers.add("WWW-Authenticate", field) }
        return AuthenticationChallenge.challenges(in: headers)
    }

    private func challenge(_ algorithm: String, _ more: String = "") throws -> DigestChallenge {
        let field = Self.fields.replacing("%", with: algorithm) + more
        return try #require(DigestChallenge.best(of: challenges(field)))
    }

    private func answer(
        _ challenge: DigestChallenge, user: String = "Mufasa", _ method: String = "GET", count: UInt32 = 1,
        body: String = ""
    ) -> String {
        DigestField(
            challenge: challenge, user: user, password: "Circle of Life", nonce: challenge.nonce, count: count,
            clientNonce: Self.clientNonce
        ).value(method, "/dir/index.html", body: Array(body.utf8))
    }

    // MARK: Answers

    @Test(arguments: [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ])
    func `the answers of RFC 7616, section 3.9.1`(algorithm: String, response: String) throws {
        #expect(
            answer(try challenge(algorithm)) == """
                Digest username="Mufasa", realm="http-auth@example.org", \
                nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", uri="/dir/index.html", response="\(response)", \
                algorithm=\(algorithm), cnonce="f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", qop=auth, nc=00000001, \
                opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
                """)
    }

    // Computed with Python's hashlib after the formulas of RFC 7616, section 3.4.
    @Test(arguments: [
        ("MD5-sess", "8e8c484b4fec404078dd1926eb4c3e4e"),
        ("SHA-256-SESS", "a447db29b396f8a81e6c970e63819eb7db8aaacb928391dd702750aa62cc15ad"),
    ])
    func `a session's key, and the body's digest, are parts of the answer`(algorithm: String, response: String) throws {
        var challenge = try challenge(algorithm)
        challenge.quality = .body
        let field = answer(challenge, "POST", count: 2, body: "what?")
        #expect(field.contains("response=\"\(response)\""), "\(field)")
        #expect(field.contains("qop=auth-int, nc=00000002") && field.contains("-sess"))
        #expect(answer(challenge, "POST", count: 2, body: "what!") != field)
    }

    // MARK: Choice

    @Test func `the strongest algorithm is answered, wherever it stands`() {
        let both = challenges(
            "Digest realm=r, nonce=1, algorithm=MD5, qop=auth, Digest realm=r, nonce=2, algorithm=SHA-256, qop=auth")
        #expect(DigestChallenge.best(of: both)?.nonce == "2")
        #expect(DigestChallenge.best(of: both.dropLast())?.nonce == "1")
        let strange = challenges(
            "Digest realm=r, nonce=1, algorithm=SHA-512-256, qop=auth", "Digest realm=r, nonce=2, qop=auth")
        #expect(DigestChallenge.best(of: strange)?.nonce == "2")
    }

    @Test(arguments: [
        "Basic realm=r", "Digest realm=r, qop=auth", "Digest nonce=n, qop=auth", "Digest realm=r, nonce=n",
        "Digest realm=r, nonce=n, qop=other", "Digest realm=r, nonce=n, qop=auth, algorithm=SHA-1",
        "Digest realm=\"a\u{1}\", nonce=n, qop=auth",
    ])
    func `what cannot be answered is not`(field: String) {
        #expect(DigestChallenge.best(of: challenges(field)) == nil)
    }
}
