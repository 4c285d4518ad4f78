import Backplane
import BackplaneDocuments
import BackplaneNetwork
import FoundationEssentials

/// The token files that survive a restart and that only their owner may read.
struct KeptTokens: Sendable {
    /// A token with its principal.
    struct Entry: Sendable {
        var principal: UInt64
        var token: BearerToken
    }
    /// A function that returns the folder, and creates it if necessary.
    let folder: @Sendable () throws(BackplaneError) -> String
    private let swept = SweptFolders()

    /// Returns the stored token of an account; `nil` if there is none, or it was issued for another credential.
    func entry(of account: String, _ credential: String, _ definition: Credential) throws(BackplaneError) -> Entry? {
        let path = try path(of: account, credential)
        guard let bytes = FileManager.default.contents(atPath: path), bytes.count <= BearerToken.mostAnswerBytes,
            case .dictionary(let members)? = try? DocumentValue(json: bytes),
            members["definition"] == .string(fingerprint(of: definition)),
            case .string(let text)? = members["principal"], let principal = UInt64(text),
            case .string(let value)? = members["token"]
        else { return nil }
        var token = BearerToken(Secret(value))
        if case .string(let text)? = members["refreshToken"] { token.refreshToken = Secret(text) }
        if case .string(let text)? = members["renewal"], let seconds = Double(text), seconds.isFinite {
            token.renewal = Date(timeIntervalSince1970: seconds)
        }
        return Entry(principal: principal, token: token)
    }

    /// Returns the names and the principals of a credential's accounts with stored tokens.
    ///
    /// - Throws: `network.file` if the folder cannot be read.
    func accounts(
        of credential: String, _ definition: Credential
    ) throws(BackplaneError) -> [(name: String, principal: UInt64)] {
        let folder = try folder(), files: [String]
        do { files = try FileManager.default.contentsOfDirectory(atPath: folder) } catch {
            throw BackplaneError(.networkFile, "the stored tokens cannot be listed", at: folder)
        }
        var accounts: [(name: String, principal: UInt64)] = []
        for file in files.prefix(CredentialAccounts.most) where file.hasSuffix(".json") {
            guard let bytes = FileManager.default.contents(atPath: folder + "/" + file),
                bytes.count <= BearerToken.mostAnswerBytes,
                case .dictionary(let members)? = try? DocumentValue(json: bytes),
                members["credential"] == .string(credential), case .string(let name)? = members["account"],
                let entry = try entry(of: name, credential, definition)
            else { continue }
            accounts.append((name, entry.principal))
        }
        return accounts
    }

    /// Stores the token of an account.
    ///
    /// - Throws: `network.file` if it cannot be written.
    func keep(
        _ entry: Entry, of account: String, _ credential: String, _ definition: Credential
    ) throws(BackplaneError) {
        var members: [String: DocumentValue] = [
            "definition": .string(fingerprint(of: definition)), "principal": .string(String(entry.principal)),
            "token": .string(entry.token.value.revealed), "credential": .string(credential),
            "account": .string(account),
        ]
        members["refreshToken"] = entry.token.refreshToken.map { .string($0.revealed) }
        members["renewal"] = entry.token.renewal.map { .string(String($0.timeIntervalSince1970)) }
        let file = try IncomingFile(path(of: account, credential))
        try file.write(DocumentValue.dictionary(members).json)
        _ = try file.finish()
    }

    /// Removes the stored token of an account.
    func remove(_ account: String, _ credential: String) throws(BackplaneError) {
        let path = try path(of: account, credential)
        // Includes a token that a killed process was writing.
        swept.sweep(beside: path)
        guard FileManager.default.fileExists(atPath: path) else { return }
        do { try FileManager.default.removeItem(atPath: path) } catch {
            throw BackplaneError(.networkFile, "the stored token cannot be removed", at: path)
        }
    }

    private func path(of account: String, _ credential: String) throws(BackplaneError) -> String {
        // A name of any length and characters, and no other's.
        try folder() + "/" + hexadecimal("\(credential.utf8.count):\(credential)\(account)") + ".json"
    }

    /// Returns a fingerprint that identifies the credential for which a token was issued.
    private func fingerprint(of definition: Credential) -> String { hexadecimal(definition.identity) }

    private func hexadecimal(_ text: String) -> String {
        ContentDigest.sha256(of: Array(text.utf8)).hexadecimal
    }
}

extension Credential {
    /// The parts of the credential that determine the user and the hosts of a token; the text contains secrets.
    fileprivate var identity: String {
        guard case .bearer(let source) = scheme, let signIn = source.signIn else { return "" }
        let content: DocumentValue
        switch signIn.content {
        case .none: content = .null
        case .json(let members): content = .dictionary(["json": .dictionary(members.mapValues(\.written))])
        case .form(let members): content = .dictionary(["form": .dictionary(members.mapValues(\.written))])
        }
        let value = DocumentValue.array([
            .array(hosts.sorted().map { .string($0) }), .string(signIn.method), .string(signIn.url),
            .dictionary(signIn.headers.mapValues(\.written)), content, .string(source.refresh?.url ?? ""),
        ])
        return String(decoding: value.json, as: UTF8.self)
    }
}
