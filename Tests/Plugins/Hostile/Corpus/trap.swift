/// Ends the process, as a wrong index or a `!` of nil does.
@_cdecl("hostile_work") func work() {
    fatalError("this cannot happen")
}

#if RETROACTIVE
// swift-format-ignore: AvoidRetroactiveConformances
extension Int: @retroactive Error {}
#endif
