#if Engines
import Backplane
public import BackplaneApp
import BackplaneHost
import BackplaneNetwork
import BackplaneRoutes
import BackplaneScreens
import HTTPTypes
public import Hummingbird
public import Logging
import NIOCore

/// The screens of an application for browsers.
///
/// ```swift
/// let app = AppManager(host)
/// let screens = WebScreens(app)
/// let server = HostServer(screens, ServerSettings(listen: "127.0.0.1:8080"))
/// print("open \(screens.signInAddress(at: "http://127.0.0.1:8080"))")
/// try await server.run()
/// ```
///
/// A browser is signed in with an address that is valid once, and then by a cookie. Each of its tabs has its own
/// window, and the address of the page is the address of the front screen. Without script, pages consist of forms and
/// links, and the tabs of a browser share a window.
///
/// In a Hummingbird application, ``WebScreensMiddleware`` serves the screens beside other routes. Behind a proxy with
/// TLS, give the name by which browsers know it: `WebScreens(app, names: ["shelf.example.org"], isSecure: true)`.
public final class WebScreens: Sendable {
    let host: PluginHost
    private let app: AppManager
    private let access: ScreenAccess
    private let windows: WebWindows
    private let images: ScreenImages
    /// The receiver of the bodies of requests.
    private let receiver: RouteServer
    private let isSecure: Bool
    private let logger: Logger
    private static let limits = ServerLimits(body: 1 << 20)

    /// Creates the screens of an application.
    ///
    /// - Parameters:
    ///   - app: The application.
    ///   - names: The names by which browsers know the server, besides `localhost` and addresses of interfaces.
    ///   - isSecure: Whether browsers reach the server over TLS through a proxy. Browsers then send the cookie over TLS
    ///     only, as they do if the server has its own certificate.
    ///   - key: 32 secret bytes, with which cookies are signed. Browsers stay signed in when a program with the same
    ///     key is started again, and another key signs them out. Default: a random key.
    ///   - limit: The maximum number of windows. Beyond it, the window that was unused for longest is closed. While all
    ///     windows are in use, a new browser is refused.
    ///   - patience: The time after which an unused window is closed.
    ///   - logger: The logger. Default: a logger that writes to the host's log.
    public init(
        _ app: AppManager, names: [String] = [], isSecure: Bool = false, key: [UInt8]? = nil, limit: Int = 200,
        patience: Duration = .seconds(1_800), logger: Logger? = nil
    ) {
        precondition(key == nil || key?.count == ScreenAccess.keySize, "a key has \(ScreenAccess.keySize) bytes")
        let logger = logger ?? Logger(label: "backplane.screens") { _ in HostLogHandler(app.host.log) }
        (host, self.app, self.isSecure, self.logger) = (app.host, app, isSecure, logger)
        access = ScreenAccess(key: key, names: names)
        windows = WebWindows(app, limit: limit, patience: patience)
        images = ScreenImages(app.host)
        receiver = RouteServer(app.host, mounting: .managers([], under: "/"), limits: Self.limits, logger: logger)
    }

    /// Returns an address that signs one browser in, and is then invalid.
    ///
    /// Anyone with the address can use the application, so do not write it to a log.
    ///
    /// - Parameter base: The address of the server, such as `http://127.0.0.1:8080`.
    public func signInAddress(at base: String) -> String { "\(base)/?token=\(access.makeToken())" }

    /// Closes all windows, once the server has stopped.
    public func close() async { await windows.closeAll() }
}

// MARK: Requests

extension WebScreens {
    /// A request that may see and use the screens.
    private struct Visit: Sendable {
        let browser: ScreenAccess.Browser
        let query: QueryFields
        let body: [UInt8]
        /// The name of the cookie in which a tab names itself when it is loaded again.
        let tabCookie: String
    }

    /// Returns the answer to a request; `nil` for a path that does not belong to the screens.
    ///
    /// - Parameter isEncrypted: A Boolean value that indicates whether the server encrypts the connection.
    func answer(to request: Request, isEncrypted: Bool = false) async -> Response? {
        guard Self.methods(of: request.uri.path) != nil else { return nil }
        var response = await respond(to: request, isSecure: isSecure || isEncrypted)
        response.secure()
        return request.method == .head ? response.createHeadResponse() : response
    }

    /// Returns the methods of a path; `nil` for a path that does not belong to the screens.
    private static func methods(of path: String) -> [String]? {
        switch path {
        case "/event": return ["POST"]
        case "/", "/back", "/events", "/image": return ["GET", "HEAD"]
        default:
            let isPage = ["/screens/", "/tabs/"].contains { path.hasPrefix($0) }
            return isPage || ScreenPage.assets[path] != nil ? ["GET", "HEAD"] : nil
        }
    }

    private func respond(to request: Request, isSecure: Bool) async -> Response {
        let path = request.uri.path
        let methods = Self.methods(of: path) ?? []
        guard methods.contains(request.method.rawValue) else {
            return await receiver.refuse(
                request, RouteProblem(405, headers: ["Allow": methods.joined(separator: ", ")]))
        }
        if let asset = ScreenPage.assets[path] { return asset.answer(to: request) }
        var body: [UInt8] = []
        switch await receiver.receive(request, until: host.begin(within: Self.limits.timeout).deadline) {
        case .refused(let response): return response
        case .received(.bytes(let bytes)): body = bytes
        case .received: break
        }
        guard let name = request.head.authority, access.isOwn(host: name) else {
            return ScreenPage.message(
                403, "This address leads nowhere",
                "The server does not know the name in the address. Open it by its number, such as 127.0.0.1, or by "
                    + "a name that the program permits.")
        }
        let site = request.method == .post ? request.headers[.secFetchSite] : nil
        guard ScreenAccess.isOwn(origin: request.headers[.origin], site: site, host: name) else {
            return ScreenPage.message(403, "Not permitted", "The request comes from a page of another site.")
        }
        let cookie = "backplane" + (name.split(separator: ":").last.flatMap { Int($0) }.map { "-\($0)" } ?? "")
        // A page of another site, or of another port, may not use the cookie.
        let isForeign = request.headers[.secFetchSite].map { !["same-origin", "none"].contains($0) } ?? false
        let values = isForeign ? [] : request.values(ofCookie: cookie)
        let known = values.lazy.compactMap { [access] in access.browser(withCookie: $0) }.first
        // From a browser that is not signed in, only a token is read.
        let text = request.uri.query ?? ""
        guard known != nil || path == "/" && text.hasPrefix("token=") && text.utf8.count < 100 else {
            return Self.notSignedIn(again: request)
        }
        guard let query = try? QueryFields(text) else {
            return ScreenPage.message(400, "This address leads nowhere", "Its query is malformed.")
        }
        if path == "/", request.method == .get, let token = query["token"] {
            return signIn(token, known?.browser, cookie, isSecure: isSecure)
        }
        guard let known else { return Self.notSignedIn(again: request) }
        let visit = Visit(browser: known.browser, query: query, body: body, tabCookie: cookie + "-tab")
        var response = await answer(to: request, visit)
        if known.age >= ScreenAccess.renewal {
            response.headers[.setCookie] = field(of: cookie, known.browser, isSecure: isSecure)
        }
        return response
    }

    private func answer(to request: Request, _ visit: Visit) async -> Response {
        switch request.uri.path {
        case "/event": await event(request, visit)
        case "/events": events(request, visit)
        case "/image":
            await images.image(
                visit.query["key"] ?? "", in: windows.all(of: visit.browser).compactMap { $0.window.drawing }
            ).ifChanged(for: request)
        default: await page(request, visit)
        }
    }

    /// Returns the field that gives a browser its cookie.
    private func field(of cookie: String, _ browser: ScreenAccess.Browser, isSecure: Bool) -> String {
        "\(cookie)=\(access.cookie(of: browser)); Path=/; Max-Age=\(ScreenAccess.lifetime); HttpOnly; SameSite=Strict"
            + (isSecure ? "; Secure" : "")
    }

    /// Returns the answer to a request with a token, which leads to the page without it.
    private func signIn(
        _ token: String, _ browser: ScreenAccess.Browser?, _ cookie: String, isSecure: Bool
    ) -> Response {
        var response = ScreenPage.redirect(to: .root)
        if let new = access.redeem(token) {
            response.headers[.setCookie] = field(of: cookie, browser ?? new, isSecure: isSecure)
            return response
        }
        // The address was opened again in the same browser.
        return browser == nil ? Self.notSignedIn(again: nil) : response
    }

    /// Returns the page for a browser that is not signed in.
    ///
    /// - Parameter request: The request to make again, if it asked for a page, because a browser that follows a link of
    ///   another site sends no cookie.
    private static func notSignedIn(again request: Request?) -> Response {
        let address = request.flatMap { $0.method == .get ? ScreenAddress($0.uri.string) : nil } ?? .root
        return ScreenPage.message(
            403, "Not signed in",
            "Open the address that the program printed at its start. It signs in one browser and is then invalid: "
                + "start the program again for a new one.",
            again: address.text)
    }

    /// The page for a window that cannot be opened, because too many others are in use.
    private static var busy: Response {
        ScreenPage.message(
            503, "Too many windows", "The application can have no more windows. Close one, and try again.")
    }

    /// Returns the rendering of pages and patches for a browser.
    private func rendering(for browser: ScreenAccess.Browser) -> HTMLRendering {
        HTMLRendering(
            HTMLRendering.Addresses(
                screen: { ScreenAddress.screen($0).text }, image: { "/image?key=\(ScreenImages.key(of: $0))" },
                tab: { ScreenAddress.tab($0).text }, back: ScreenAddress.back.text, form: "/event"),
            token: access.formToken(of: browser))
    }
}

// MARK: Pages

extension WebScreens {
    private func page(_ request: Request, _ visit: Visit) async -> Response {
        guard let address = try? ScreenAddress(path: request.uri.path, query: request.uri.query) else {
            return ScreenPage.message(404, "This address leads nowhere", "There is no page at \(request.uri.path).")
        }
        let tab = request.cookies[visit.tabCookie]?.value
        guard let use = windows.enter(visit.browser, tab: tab.flatMap { $0.isTab ? $0 : nil }) else {
            return Self.busy
        }
        defer { withExtendedLifetime(use) {} }
        let window: Window
        do throws(BackplaneError) { window = try await use.window.window() } catch {
            windows.forget(use.window)
            return failure(error, opening: nil)
        }
        do { try await address.show(in: window) } catch {
            return failure(BackplaneError(thrown: error), opening: address)
        }
        let drawing = window.drawing, shown = ScreenAddress(of: drawing)
        guard shown == address else { return ScreenPage.redirect(to: shown) }
        use.window.note(pageAt: drawing.revision)
        let html = ScreenPage.html(
            of: drawing, rendering(for: visit.browser), window: use.window.number,
            token: access.formToken(of: visit.browser), cookie: visit.tabCookie)
        return ScreenPage.answer(200, "text/html; charset=utf-8", html)
    }

    /// Returns the page for a screen that cannot be shown; `nil` stands for the first one.
    private func failure(_ error: BackplaneError, opening address: ScreenAddress?) -> Response {
        logger.log(
            level: address == nil ? .error : .debug, "a page cannot be shown",
            metadata: ["address": "\(address?.text ?? "/")", "error": "\(error.detailedDescription)"])
        let status =
            switch error.code {
            case .screenUnknown: 404
            case .screenInvalidInput: 400
            case .hostStopped: 503
            default: 500
            }
        return ScreenPage.message(status, "This page cannot be shown", error.description)
    }
}

// MARK: Events

extension WebScreens {
    /// Returns the stream of the drawings of a tab.
    private func events(_ request: Request, _ visit: Visit) -> Response {
        // With this method, a script learns whether the browser is still signed in.
        if request.method == .head { return ScreenPage.answer(200, "text/event-stream", "") }
        let page = visit.query["window"].flatMap { Int($0) }
        guard let tab = visit.query["tab"], tab.isTab else {
            return ScreenPage.message(400, "This address leads nowhere", "Its tab is missing.")
        }
        guard let use = windows.enter(visit.browser, tab: tab, page: page) else { return Self.busy }
        let shown = visit.query["revision"].flatMap { Int($0) }
        // A page tells the address of its tab in two cases: the tab has no window yet (unless the window shows just
        // this page), or a newer window has shown the page. A page that the tab is leaving may ask late, and tells
        // nothing.
        let isElsewhere =
            use.isFirst ? shown != use.window.pageRevision : page.map { $0 > use.window.number } ?? false
        let address = isElsewhere ? visit.query["address"].flatMap { ScreenAddress($0) } : nil
        let isOwn = page.map { $0 == use.window.number } ?? !use.isFirst
        let revision = isOwn && !isElsewhere ? shown : nil
        let rendering = self.rendering(for: visit.browser)
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream"],
            body: ResponseBody { [self] writer in
                // Browsers consider the stream open once it has begun.
                try await writer.write(ByteBuffer(string: ":\n\n"))
                try await request.body.consumeWithCancellationOnInboundClose { _ in
                    guard let window = await opened(use.window) else { return }
                    _ = try? await address?.show(in: window)
                    try await DrawingStream(window, rendering, clock: host.clock).send(after: revision, to: &writer)
                }
                withExtendedLifetime(use) {}
                try await writer.finish(nil)
            })
    }

    /// Returns the answer to an action of a person: the status 204 for a script, and a redirect to the current screen
    /// for a form.
    private func event(_ request: Request, _ visit: Visit) async -> Response {
        let isForm = request.headers[.contentType]?.lowercased().hasPrefix("application/json") != true
        let form: QueryFields?
        do { form = try isForm ? QueryFields(form: visit.body) : nil } catch {
            let reason = (error as? RouteProblem)?.detail
            return ScreenPage.message(400, "The page cannot be sent", reason ?? "Its form is malformed.")
        }
        let token = isForm ? form?["token"] : request.headers[.screenToken]
        guard access.isFormToken(token ?? "", of: visit.browser) else {
            return ScreenPage.message(403, "Not permitted", "The page is too old, or of another site.")
        }
        let answer: Response?
        if let form { answer = await take(form, visit) } else { answer = await take(visit) }
        return answer ?? Self.busy
    }

    private func take(_ form: QueryFields, _ visit: Visit) async -> Response? {
        let use = windows.enter(visit.browser, showing: form["screen"].flatMap { Int($0) })
        guard let use else { return nil }
        defer { withExtendedLifetime(use) {} }
        guard let window = await opened(use.window) else { return ScreenPage.redirect(to: .root) }
        if let input = ScreenInput(form: form, in: window.drawing) { _ = await act(input, in: window) }
        return ScreenPage.redirect(to: ScreenAddress(of: window.drawing))
    }

    private func take(_ visit: Visit) async -> Response? {
        let input: ScreenInput
        do { input = try RouteRequest("", body: visit.body).body(as: ScreenInput.self) } catch {
            return Response((error as? RouteProblem) ?? RouteProblem(400))
        }
        guard let tab = input.tab, tab.isTab else { return Response(RouteProblem(400, fields: ["tab": "missing"])) }
        // The page shows a window that was closed, until its stream begins again.
        guard windows.all(of: visit.browser).contains(where: { $0.tab == tab }) else { return ScreenPage.answer(410) }
        guard let use = windows.enter(visit.browser, tab: tab) else { return nil }
        defer { withExtendedLifetime(use) {} }
        guard let window = await opened(use.window) else { return ScreenPage.answer(410) }
        guard await act(input, in: window) else { return ScreenPage.answer(404) }
        return ScreenPage.answer(204, [.screenRevision: "\(window.drawing.revision)"])
    }

    /// Performs the action of a person, and returns once the screen has handled it, or after the limit for answers.
    ///
    /// - Returns: `false` if an address cannot be shown.
    private func act(_ input: ScreenInput, in window: Window) async -> Bool {
        let step = RouteStep { () async -> Bool in
            switch input.kind {
            case .alert: window.dismissAlert()
            case .press, .change, .submit:
                // The drawing may have changed since the person saw it.
                guard let (screen, event) = input.event(in: window.drawing) else { return true }
                await window.send(event, to: screen)
            case .link:
                guard let address = input.address.flatMap({ ScreenAddress($0) }) else { return false }
                do { try await address.show(in: window, from: input.source) } catch {
                    // The person has done something else meanwhile, which is shown.
                    return BackplaneError(thrown: error).code == .callCancelled
                }
            }
            return true
        }
        return await step.result(until: host.clock.moment + Self.limits.timeout, by: host.clock) ?? true
    }

    private func opened(_ window: WebWindow) async -> Window? {
        do throws(BackplaneError) { return try await window.window() } catch {
            _ = failure(error, opening: nil)
            windows.forget(window)
            return nil
        }
    }
}

extension String {
    /// A Boolean value that indicates whether the text can be the identifier of a tab.
    fileprivate var isTab: Bool {
        (1...64).contains(utf8.count) && utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    }
}

extension Request {
    /// Returns the values of all cookies with a name; another server on the machine may have set some of them.
    fileprivate func values(ofCookie name: String) -> [String] {
        headers[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap { pair in
            let pair = pair.trimmingBlanks
            guard let equals = pair.firstIndex(of: "="), pair[..<equals] == name else { return nil }
            return String(pair[equals...].dropFirst())
        }
    }
}

extension HTTPField.Name {
    fileprivate static let secFetchSite = Self("sec-fetch-site")!
    fileprivate static let screenToken = Self("x-screen-token")!
    fileprivate static let screenRevision = Self("x-screen-revision")!
}

/// The screens of an application in a Hummingbird application, beside its other routes.
///
/// ```swift
/// let screens = WebScreens(app)
/// router.add(middleware: WebScreensMiddleware(screens))
/// ```
///
/// The paths of the screens are `/`, `/back`, `/event`, `/events`, `/image`, `/screens…` and `/tabs/…`; requests for
/// other paths go on to the application.
public struct WebScreensMiddleware<Context: RequestContext>: RouterMiddleware {
    private let screens: WebScreens

    /// Creates a part of a router that answers the requests for the paths of the screens.
    public init(_ screens: WebScreens) { self.screens = screens }

    /// Answers a request for a path of the screens, and passes on any other.
    @concurrent public func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        if let answer = await screens.answer(to: request) { return answer }
        return try await next(request, context)
    }
}
#endif
