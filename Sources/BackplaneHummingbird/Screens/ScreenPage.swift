#if Engines
import BackplaneApp
import BackplaneExchange
import BackplaneNetwork
import BackplaneScreens
import HTTPTypes
import Hummingbird
import NIOCore

/// The pages of screens, and the answers in place of pages.
enum ScreenPage {
    /// The path of the stylesheet and the script.
    static let stylesheet = "/screens.css", script = "/screens.js"

    /// Returns the page of a window.
    ///
    /// - Parameters:
    ///   - window: The number of the window.
    ///   - token: The token of forms and scripts.
    ///   - cookie: The name of the cookie in which a tab names itself when it is loaded again.
    static func html(
        of drawing: WindowDrawing, _ rendering: HTMLRendering, window: Int, token: String, cookie: String
    ) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>\(head(drawing.front?.heading ?? ""))\(drawing.isUnderWay ? refresh : "")\
        <script src="\(script)" defer></script></head>
        <body data-window="\(window)" data-revision="\(drawing.revision)" data-token="\(token)" data-cookie="\(cookie)">
        \(rendering.content(of: drawing))<p id="notice" role="status" hidden></p>
        </body>
        </html>

        """
    }

    private static func head(_ title: String) -> String {
        """
        <meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">\
        <title>\(title.escapedForHTML)</title><link rel="stylesheet" href="\(stylesheet)">
        """
    }

    /// The element with which a page without script is loaded again after 2 seconds.
    private static let refresh = "<noscript><meta http-equiv=\"refresh\" content=\"2\"></noscript>"

    /// Returns a page with a message, and a link to try again.
    static func message(_ status: Int, _ title: String, _ text: String, again address: String = "/") -> Response {
        let html = """
            <!DOCTYPE html>
            <html lang="en">
            <head>\(head(title))</head>
            <body><main id="screen"><div class="body"><h1>\(title.escapedForHTML)</h1><p>\(text.escapedForHTML)</p>
            <a href="\(address.escapedForHTML)">Try again</a></div></main></body>
            </html>

            """
        return answer(status, "text/html; charset=utf-8", html)
    }

    static func answer(_ status: Int, _ type: String, _ text: String) -> Response {
        Response(
            status: .init(code: status), headers: [.contentType: type],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    /// Returns an answer without content.
    static func answer(_ status: Int, _ headers: HTTPFields = [:]) -> Response {
        var response = Response(status: .init(code: status), headers: headers)
        if status == 204 || status == 304 { response.headers[.contentLength] = nil }
        return response
    }

    static func redirect(to address: ScreenAddress) -> Response { answer(303, [.location: address.text]) }

    // MARK: Stylesheet and script

    /// The text that a browser keeps until it changes.
    struct Asset: Sendable {
        let type, text, tag: String

        init(_ type: String, _ text: String) {
            (self.type, self.text) = (type, text)
            tag = "\"\(ContentDigest.sha256(of: Array(text.utf8)).hexadecimal.prefix(24))\""
        }

        func answer(to request: Request) -> Response {
            var response = ScreenPage.answer(200, type, text)
            response.headers[.eTag] = tag
            response.headers[.cacheControl] = "no-cache"
            return response.ifChanged(for: request)
        }
    }
    static let assets = [
        stylesheet: Asset("text/css; charset=utf-8", StyleSheet.css + notice),
        script: Asset("text/javascript; charset=utf-8", ScreenScript.source),
    ]
    /// The notice that the connection is lost.
    private static let notice = """

        #notice { position: fixed; inset: auto 0 0; z-index: 4; margin: 0; padding: 0.75rem 1rem; text-align: center;
            background: var(--critical); color: var(--on-critical); }
        @media (max-width: 40rem) { #notice { inset: 0 0 auto; } }

        """
}

extension WindowDrawing {
    /// A Boolean value that indicates whether the window is about to change by itself.
    fileprivate var isUnderWay: Bool {
        firstView { $0.isBusy || $0.kind == .progress && $0.fraction != 1 } != nil
    }
}

extension Response {
    /// Returns the answer without its content if the browser already has the content, according to its entity tag.
    func ifChanged(for request: Request) -> Response {
        guard let tag = headers[.eTag], request.headers[.ifNoneMatch]?.contains(tag) == true else { return self }
        var headers = headers
        headers[.contentType] = nil
        return ScreenPage.answer(304, headers)
    }

    /// Adds the fields of every answer, which restrict a page to the purposes of the server.
    mutating func secure() {
        if !headers.contains(.contentSecurityPolicy) { headers[.contentSecurityPolicy] = Self.policy }
        if !headers.contains(.cacheControl) { headers[.cacheControl] = "no-store" }
        headers[.xContentTypeOptions] = "nosniff"
        // With `no-referrer`, browsers would not send the origin of a form's page.
        headers[.referrerPolicy] = "same-origin"
    }

    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
        form-action 'self'; base-uri 'none'; frame-ancestors 'none'
        """
}

extension HTTPField.Name {
    fileprivate static let referrerPolicy = Self("referrer-policy")!
}

extension String {
    /// The text between tags, or between quotes as the value of an attribute.
    fileprivate var escapedForHTML: String {
        // By scalars, because a character with a combining mark is a different character.
        unicodeScalars.reduce(into: "") { html, scalar in
            switch scalar {
            case "&": html += "&amp;"
            case "<": html += "&lt;"
            case ">": html += "&gt;"
            case "\"": html += "&quot;"
            case "'": html += "&#39;"
            default: html.unicodeScalars.append(scalar)
            }
        }
    }
}
#endif
