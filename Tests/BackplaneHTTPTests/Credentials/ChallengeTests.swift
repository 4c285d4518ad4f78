import BackplaneNetwork
import Testing

@testable import BackplaneExchange

/// The reading of `WWW-Authenticate` (RFC 9110, section 11.6.1).
struct ChallengeTests {
    private func read(_ values: String...) -> [AuthenticationChallenge] {
        var headers: HTTPHeaders = [:]
        for value in values { headers.add("WWW-Authenticate", value) }
        return AuthenticationChallenge.challenges(in: headers)
    }

    /// A challenge as a text that is easy to compare.
    private func texts(_ challenges: [AuthenticationChallenge]) -> [String] {
        challenges.map { challenge in
            ([challenge.scheme] + (challenge.token.map { ["<\($0)>"] } ?? [])
                + challenge.parameters.map { "\($0.name)=\($0.value)" }).joined(separator: " ")
        }
    }

    @Test(arguments: [
        (#"Basic realm="simple""#, ["basic realm=simple"]),
        // The example of RFC 9110: two schemes in one field, and a quoted string with what looks like another.
        (
            #"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"""#,
            ["basic realm=simple", #"newauth realm=apps type=1 title=Login to "apps""#]
        ),
        (
            #"Digest realm="a, Basic b=\"c\"", nonce=n ,qop="auth,auth-int""#,
            [#"digest realm=a, Basic b="c" nonce=n qop=auth,auth-int"#]
        ),
        ("Negotiate", ["negotiate"]), ("Negotiate, Basic realm=x", ["negotiate", "basic realm=x"]),
        ("Negotiate a87421000492aa874209af8bc028==", ["negotiate <a87421000492aa874209af8bc028==>"]),
        ("NTLM TlRM/+-._~=, Basic realm=x", ["ntlm <TlRM/+-._~=>", "basic realm=x"]),
        ("Basic realm = \"spaces\" , charset=UTF-8", ["basic realm=spaces charset=UTF-8"]),
        (", ,Basic realm=x,,, Bearer", ["basic realm=x", "bearer"]),
        ("BEARER ERROR=\"Invalid\"", ["bearer error=Invalid"]),
        (#"Basic realm="Bücher «Wal» 📚""#, ["basic realm=Bücher «Wal» 📚"]), (#"Basic realm="""#, ["basic realm="]),
        ("", []), (",,", []), ("   ", []),
    ])
    func `challenges are told apart`(field: String, expected: [String]) {
        #expect(texts(read(field)) == expected)
    }

    @Test func `several fields are several lists`() {
        #expect(
            texts(read("Basic realm=a, Bearer", "Digest nonce=n")) == ["basic realm=a", "bearer", "digest nonce=n"])
    }

    @Test(arguments: [
        (#"Basic realm="open"#, []), (#"Basic realm=, Bearer realm=b"#, ["basic <realm=>", "bearer realm=b"]),
        (#"Basic realm="a"b, Bearer"#, ["bearer"]), (#"= , Bearer realm=b"#, ["bearer realm=b"]),
        (#"Basic realm="x\"#, []), (#"Basic "quoted, Bearer", Digest nonce=n"#, ["digest nonce=n"]),
        (#"realm=nobody's, Bearer"#, ["bearer"]), (#"Basic a b, Bearer"#, ["bearer"]),
    ])
    func `what cannot be read is skipped, with its challenge`(field: String, expected: [String]) {
        #expect(texts(read(field)) == expected)
    }
}
