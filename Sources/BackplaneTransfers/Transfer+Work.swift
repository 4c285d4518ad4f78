import BackplaneNetwork

extension Transfer {
    /// The request.
    var request: HTTPRequest {
        switch work {
        case .download(let request, _, _), .upload(let request): request
        }
    }

    /// The path of the downloaded file; `nil` for an upload.
    var target: String? {
        if case .download(_, let path, _) = work { path } else { nil }
    }

    /// The options of an exchange that identify its sender.
    var exchange: HTTPOptions {
        var options = HTTPOptions()
        (options.credential, options.account, options.sender) = (credential, account, sender)
        return options
    }

    /// Returns whether both transfers are identical apart from their settings, bodies and credentials.
    func isSame(as other: Transfer) -> Bool {
        request.method == other.request.method && request.url == other.request.url && target == other.target
    }

    /// Returns whether the transfer checks the digest that another one expects.
    func checks(_ other: Transfer) -> Bool { other.sha256 == nil || other.sha256 == sha256 }

    private var sha256: [UInt8]? {
        if case .download(_, _, let settings) = work { settings.sha256 } else { nil }
    }

    /// The paths of the files that are uploaded.
    var files: [String] {
        (request.body.segments ?? []).compactMap { segment in
            if case .file(let path) = segment { path } else { nil }
        }
    }
}

extension Transfer.Download {
    /// Returns the settings with those that others give, by which a digest or a limit is not lifted.
    func taking(_ other: Self) -> Self {
        Self(
            existing: other.existing == .replace ? existing : other.existing, sha256: other.sha256 ?? sha256,
            sizeLimit: other.sizeLimit ?? sizeLimit)
    }
}

extension HTTPBody {
    /// Returns whether both bodies consist of the same bytes and files.
    ///
    /// Only transfers compare bodies. A conformance to `Equatable` would be in every plugin with a network role, and
    /// the runtime looks through all conformances after each library that is loaded.
    func isSame(as other: HTTPBody) -> Bool {
        let own = segments ?? [], others = other.segments ?? []
        return own.count == others.count
            && zip(own, others).allSatisfy { pair in
                switch pair {
                case (.bytes(let one), .bytes(let other)): one == other
                case (.file(let one), .file(let other)): one == other
                default: false
                }
            }
    }
}
